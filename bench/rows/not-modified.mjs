import { measure, repeating } from "../src/measure.mjs";
import { compare } from "../src/report.mjs";
import { HOT, renditionOf } from "./hot.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

/** A rendition that the client has cached, requested with `If-None-Match`. */
export async function measureRow(/** @type {Bench} */ bench) {
  const express = await bench.start("outrigger inExpress");
  const koa = await bench.start("outrigger inKoa");
  const { path, directory } = await renditionOf(bench, express);
  const contestants = {
    express: await asking(bench, express, path),
    koa: await asking(bench, koa, (await renditionOf(bench, koa)).path),
    files: await asking(bench, await bench.start("express-files staticFiles", { directory }), "/hot.jpg"),
    send: await asking(bench, await bench.start("koa-files sendFiles", { directory }), "/hot.jpg"),
  };
  const { express: inExpress, koa: inKoa, files, send } = await measure(bench, contestants, HOT);
  const line = { atMost: 0.75 };
  return [
    compare({ ...line, what: "304, Express 5", peer: "`express.static`", ours: inExpress, theirs: files }),
    compare({ ...line, what: "304, Koa 3", peer: "koa-send, then `ctx.fresh`", ours: inKoa, theirs: send }),
  ];
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {string} path
 */
async function asking(bench, server, path) {
  const headers = await bench.checks.notModified(server, path);
  return repeating(server, { path, headers, status: 304, length: 0 });
}
