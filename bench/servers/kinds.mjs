/** @import { RequestListener } from "node:http" */
/** @import { RendererOptions } from "@outrigger/imaging" */

/**
 * The options of a server. Each kind lists the options that it needs.
 * @typedef {object} ServerOptions
 * @property {string} [directory] An existing directory of its own, or the one whose files it serves.
 * @property {string} [file] Path of the file that it serves.
 * @property {Record<string, string>} [headers] Headers that it sends with it.
 * @property {number} [maxUploadBytes] Largest file that it accepts. Absent: its own default.
 * @property {boolean} [waits] Whether each upload is answered only once it is processed. Default: false.
 * @property {{ redis?: string, postgres?: string }} [records] URL of the store of Outrigger's records. Absent: `directory`.
 * @property {RendererOptions} [renderer] For Outrigger's renderer. Absent: its defaults.
 */

/** @typedef {{ listener: RequestListener, close?: () => Promise<void> }} Mounted */

// Loaded on demand: a server must not carry the modules of another.
export const SERVERS = {
  /** Outrigger in Express 5, at `/img`. Needs `directory`. */
  "outrigger-express": start(() => import("./outrigger.mjs"), "outriggerInExpress"),
  /** The same behind Outrigger's `front`. */
  "outrigger-front": start(() => import("./outrigger.mjs"), "outriggerInFront"),
  /** Outrigger in Koa 3, at `/img`. Needs `directory`. */
  "outrigger-koa": start(() => import("./outrigger.mjs"), "outriggerInKoa"),
  /** Express 5: the bytes of `file` from memory, written to `res`, with their type or all `headers`. */
  "express-buffer": start(() => import("./express-files.mjs"), "buffer"),
  /** Express 5: `express.static` on `directory`. */
  "express-static": start(() => import("./express-files.mjs"), "staticFiles"),
  /** Express 5: `file` from a read stream. */
  "express-stream": start(() => import("./express-files.mjs"), "stream"),
  /** Koa 3: the bytes of `file` from memory as `ctx.body`, with `headers`. */
  "koa-buffer": start(() => import("./koa-files.mjs"), "buffer"),
  /** Koa 3: koa-send on `directory`, with a 304 if Koa considers the request fresh. */
  "koa-send": start(() => import("./koa-files.mjs"), "sendFiles"),
  /** Express 5: `file` resized to `?width=` by sharp. */
  "express-sharp": start(() => import("./resizers.mjs"), "sharpInExpress"),
  /** Express 5: ipx on `directory`. */
  "express-ipx": start(() => import("./resizers.mjs"), "ipxInExpress"),
  /** Outrigger's email lookup in Express 5, at `/people`, on `lookup.db` in `directory`. */
  "lookup-express": start(() => import("./lookup.mjs"), "lookupInExpress"),
  /** Express 5: the first page of a domain by one statement on `lookup.db` in `directory`. */
  "express-statement": start(() => import("./lookup.mjs"), "statementInExpress"),
  /** Express 5: multer to disk, synced and renamed into `directory`, with a record beside it, its hash, and a decode by sharp. */
  "express-multer-checked": start(() => import("./uploaders.mjs"), "checkedMulterInExpress"),
};

/** @typedef {keyof typeof SERVERS} ServerKind */

/**
 * @template {string} Name
 * @param {() => Promise<Record<Name, (options: ServerOptions) => Promise<Mounted>>>} load
 * @param {Name} name
 * @returns {(options: ServerOptions) => Promise<Mounted>}
 */
function start(load, name) {
  return async (options) => (await load())[name](options);
}

/**
 * @param {ServerOptions} options
 * @param {"directory" | "file"} name
 */
export function required(options, name) {
  const value = options[name];
  if (value === undefined) throw new TypeError(`This server needs the option ${name}`);
  return value;
}
