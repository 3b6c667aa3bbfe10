// @ts-check

/**
 * Sets `ctx.state.user` to the user of the token in the request, if it has a known token.
 * @param {Map<string, string>} tokens User names by token.
 * @returns {import("koa").Middleware}
 */
export function identifyUser(tokens) {
  return (ctx, next) => {
    const token = /^Bearer (\S+)$/.exec(ctx.get("authorization"))?.[1];
    ctx.state.user = token === undefined ? undefined : tokens.get(token);
    return next();
  };
}

/**
 * Lets only users pass.
 * @type {import("koa").Middleware}
 */
export function requireUser(ctx, next) {
  if (ctx.state.user !== undefined) return next();
  return ctx.throw(401, "Sign in first", { headers: { "WWW-Authenticate": "Bearer" } });
}
