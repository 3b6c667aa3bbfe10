// @ts-check

/**
 * Lets only those pass who send a token that we gave out; says who it is in `res.locals.user`.
 * @param {Map<string, string>} tokens User names by token.
 * @returns {import("express").RequestHandler}
 */
export function requireUser(tokens) {
  return (req, res, next) => {
    const token = /^Bearer (\S+)$/.exec(req.get("authorization") ?? "")?.[1];
    const user = token === undefined ? undefined : tokens.get(token);
    if (user === undefined) {
      res.status(401).set("WWW-Authenticate", "Bearer").json({ error: "Sign in first" });
      return;
    }
    res.locals.user = user;
    next();
  };
}
