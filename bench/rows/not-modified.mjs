import { measure, repeating } from "../src/measure.mjs";
import { compare, formatMicros } from "../src/report.mjs";
import { renditionOf, WARM_UP } from "./hot.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Contestant } from "../src/measure.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

/** A rendition that the client has cached, requested with `If-None-Match`. */
export async function notModified(/** @type {Bench} */ bench) {
  const [express, koa] = await Promise.all([bench.start("outrigger-express"), bench.start("outrigger-koa")]);
  const { path, directory } = await renditionOf(bench, express);
  const samples = await measure(
    bench,
    {
      express: await asking(bench, express, path),
      koa: await asking(bench, koa, (await renditionOf(bench, koa)).path),
      files: await asking(bench, await bench.start("express-static", { directory }), "/hot.jpg"),
      send: await asking(bench, await bench.start("koa-send", { directory }), "/hot.jpg"),
    },
    { connections: 10, warmUpFactor: WARM_UP },
  );
  const line = { format: formatMicros, aim: { atMost: 0.75 } };
  return [
    compare({
      ...line,
      what: "304, Express 5",
      peer: "`express.static`",
      ours: samples.express,
      theirs: samples.files,
    }),
    compare({
      ...line,
      what: "304, Koa 3",
      peer: "koa-send, then `ctx.fresh`",
      ours: samples.koa,
      theirs: samples.send,
    }),
  ];
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {string} path
 * @returns {Promise<Contestant>}
 */
async function asking(bench, server, path) {
  const headers = await bench.checks.notModified(server, path);
  return repeating(server, { path, headers, status: 304, length: 0 });
}
