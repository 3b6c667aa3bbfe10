// @ts-check

/**
 * Lets only those pass who send a token that we gave out; says who it is in `ctx.state.user`.
 * @param {Map<string, string>} tokens User names by token.
 * @returns {import("koa").Middleware}
 */
export function requireUser(tokens) {
  return (ctx, next) => {
    const token = /^Bearer (\S+)$/.exec(ctx.get("authorization"))?.[1];
    ctx.state.user = token === undefined ? undefined : tokens.get(token);
    if (ctx.state.user === undefined) {
      ctx.throw(401, "Sign in first", { headers: { "WWW-Authenticate": "Bearer" } });
    }
    return next();
  };
}
