// @ts-check
import { randomBytes } from "node:crypto";
import Router from "@koa/router";
import { isServiceError } from "@outrigger/core";

/**
 * Sign-up, and the avatars of users. Both call Outrigger in code, without a request to `/img`.
 * @param {{
 *   images: import("@outrigger/core").Images,
 *   lookup: import("@outrigger/core").Lookup,
 *   tokens: Map<string, string>,
 *   requireUser: import("koa").Middleware,
 * }} options User names by token; a new user's is added.
 */
export function users({ images, lookup, tokens, requireUser }) {
  /** @type {Map<string, string>} The IDs of avatars by user name. They are kept for ever. */
  const avatars = new Map();
  const router = new Router({ prefix: "/users" });

  router.post("/", async (ctx) => {
    const { email } = Reflect.get(ctx.request, "body") ?? {};
    const { data } = await lookup.verifyEmail(email, { maxDurationMs: 3000 });
    // An unknown or unfinished verdict is no reason to turn someone away.
    if (data.status === "invalid" || data.status === "disposable") {
      ctx.status = 422;
      ctx.body = { error: `This address is ${data.status}`, suggestion: data.suggestion };
      return;
    }
    const token = randomBytes(16).toString("hex");
    tokens.set(token, data.email);
    ctx.status = 201;
    ctx.body = { name: data.email, token };
  });

  router.put("/me/avatar", requireUser, async (ctx) => {
    const owner = String(ctx.state.user);
    const { id } = await images.add(ctx.req, { name: `Avatar of ${owner}`, owner, expiresAt: null });
    const previous = avatars.get(owner);
    avatars.set(owner, id);
    // It may have been deleted by its PIN.
    if (previous !== undefined) await images.remove(previous).catch(ignoreGone);
    const avatar = await images.address(id, { format: "webp", resize: "96x96" });
    ctx.status = 201;
    // Without `publicUrl`, addresses begin at the mount point.
    ctx.body = { avatar: `/img${avatar}` };
  });

  return router.routes();
}

/** @param {unknown} error */
function ignoreGone(error) {
  if (!isServiceError(error, "gone")) throw error;
}
