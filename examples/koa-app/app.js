// @ts-check
import Router from "@koa/router";
import { createFsBlobStore, createImages, isServiceError } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import { koa as outrigger } from "@outrigger/koa";
import { createPages } from "@outrigger/web";
import Koa from "koa";
import bodyParser from "koa-bodyparser";
import { identifyUser, requireUser } from "./auth.js";
import { createAddressLookup } from "./lookup.js";
import { notes } from "./notes.js";
import { users } from "./users.js";

/**
 * A notes API, with pictures under /img. Close `images` and `lookup` after the last reply.
 * @param {{ directory: string, tokens: Map<string, string> }} options Where pictures are kept; user names by token.
 */
export function createApp({ directory, tokens }) {
  const app = new Koa();
  app.use(answerErrors);
  app.use(identifyUser(tokens));

  // Outrigger: users upload, everybody reads. It stands before the body parser.
  const storage = createFsBlobStore({ directory });
  const renderer = createRenderer();
  // Notes and users keep pictures, so these never expire unless a client asks for a date.
  const lifetimes = { defaultLifetimeMs: null, maxLifetimeMs: null };
  const images = createImages({ storage, renderer, pages: createPages(), authorize, ...lifetimes });
  const uploads = new Router().post("/img/api/*path", requireUser);
  app.use(uploads.routes());
  app.use(outrigger(images, { prefix: "/img" }));

  app.use(bodyParser());
  app.use(notes(requireUser));
  const lookup = createAddressLookup();
  app.use(users({ images, lookup, tokens, requireUser }));

  return { app, images, lookup };
}

/**
 * A picture belongs to the user who uploaded it, who may delete it without its PIN. Everybody may see it.
 * @type {import("@outrigger/core").Authorize}
 */
function authorize(call, action) {
  const { user } = /** @type {Koa.Context} */ (call.context).state;
  if (user !== undefined && action !== "read") return { owner: user };
  return action === "create" ? false : undefined;
}

/**
 * How this app replies to calls of Outrigger that reject; any other code is its own failure.
 * @type {Partial<Record<import("@outrigger/core").ErrorCode, number>>}
 */
const STATUSES = { bad_request: 422, withheld: 422, too_large: 413, unsupported_media: 415, conflict: 409 };

/**
 * Answers errors, and 404 for requests without a route, in the words of this app.
 * @type {Koa.Middleware}
 */
async function answerErrors(ctx, next) {
  try {
    await next();
    if (ctx.status === 404 && ctx.body === undefined) {
      ctx.status = 404;
      ctx.body = { error: `There is no ${ctx.path}` };
    }
  } catch (error) {
    const {
      status = isServiceError(error) ? (STATUSES[error.code] ?? 500) : 500,
      message = "",
      headers = {},
    } = /** @type {Partial<InstanceType<typeof Koa.HttpError>>} */ (error);
    if (status >= 500) ctx.app.emit("error", error, ctx);
    ctx.set(headers);
    ctx.status = status;
    ctx.body = { error: status >= 500 ? "Something went wrong" : message };
  }
}
