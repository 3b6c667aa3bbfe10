// @ts-check

/**
 * Sets `res.locals.user` to the user of the token in the request, if it has a known token.
 * @param {Map<string, string>} tokens User names by token.
 * @returns {import("express").RequestHandler}
 */
export function identifyUser(tokens) {
  return (req, res, next) => {
    const token = /^Bearer (\S+)$/.exec(req.get("authorization") ?? "")?.[1];
    res.locals.user = token === undefined ? undefined : tokens.get(token);
    next();
  };
}

/**
 * Lets only users pass.
 * @param {import("express").Request} _req
 * @param {import("express").Response} res
 * @param {import("express").NextFunction} next
 */
export function requireUser(_req, res, next) {
  if (res.locals.user !== undefined) next();
  else res.status(401).set("WWW-Authenticate", "Bearer").json({ error: "Sign in first" });
}
