// @ts-check

/**
 * A picture belongs to the user who uploaded it, who may delete it without its PIN. Everybody may see it.
 * @type {import("@outrigger/core").Authorize}
 */
export function authorize(call, action) {
  const { res } = /** @type {import("express").Request} */ (call.context);
  const user = res?.locals.user;
  if (user !== undefined && action !== "read") return { owner: user };
  return action === "create" ? false : undefined;
}
