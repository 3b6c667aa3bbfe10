import { readFile } from "node:fs/promises";
import Koa from "koa";
// @ts-expect-error It has no types of its own.
import send from "koa-send";
import { required } from "./required.mjs";

/** @import { Mounted, ServerOptions } from "./required.mjs" */

/** @param {ServerOptions} options @returns {Promise<Mounted>} */
export async function buffer(options) {
  const bytes = await readFile(required(options, "file"));
  const { headers = {} } = options;
  const app = new Koa();
  app.use((ctx) => {
    ctx.set(headers);
    ctx.body = bytes;
  });
  return { listener: app.callback() };
}

/** @param {ServerOptions} options @returns {Promise<Mounted>} */
export async function sendFiles(options) {
  const root = required(options, "directory");
  const app = new Koa();
  app.use(async (ctx) => {
    await send(ctx, ctx.path, { root });
    // As koa-conditional-get does.
    if (ctx.fresh) {
      // koa-send has opened the file by now.
      const { body } = ctx;
      ctx.status = 304;
      ctx.body = null;
      if (typeof body === "object" && body !== null && "destroy" in body) body.destroy();
    }
  });
  return { listener: app.callback() };
}
