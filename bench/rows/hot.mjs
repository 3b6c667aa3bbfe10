import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { addressOf, get, upload } from "../src/client.mjs";
import { measure, repeating } from "../src/measure.mjs";
import { compare, formatMicros } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Answer } from "../src/client.mjs" */
/** @import { Contestant } from "../src/measure.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const CONNECTIONS = 10;
/** V8 optimises the last functions after some ten thousand requests. */
export const WARM_UP = 4;
/** A rendition of the photograph at this width has about as many bytes as a large thumbnail. */
const TARGET_BYTES = 20_000;

/** A recently requested rendition of about 20 KB, against the same bytes sent by other means. */
export async function hot(/** @type {Bench} */ bench) {
  return [...(await inExpress(bench)), ...(await inKoa(bench))];
}

/** @param {Bench} bench */
async function inExpress(bench) {
  const ours = await bench.start("outrigger-express");
  const { path, answer, file, directory } = await renditionOf(bench, ours);
  const headers = headersOf(answer);
  const inFront = await bench.start("outrigger-front");
  const fronted = await renditionOf(bench, inFront);
  const [buffer, withHeaders, files] = await Promise.all([
    bench.start("express-buffer", { file }),
    bench.start("express-buffer", { file, headers }),
    bench.start("express-static", { directory }),
  ]);
  const samples = await measure(
    bench,
    {
      ours: await sending(bench, ours, path, answer),
      front: await sending(bench, inFront, fronted.path, fronted.answer),
      buffer: await sending(bench, buffer, "/file.jpg", answer),
      headers: await sending(bench, withHeaders, "/file.jpg", answer),
      files: await sending(bench, files, "/hot.jpg", answer),
    },
    { connections: CONNECTIONS, warmUpFactor: WARM_UP },
  );
  const what = `Hot rendition, ${kilobytes(answer)}, Express 5`;
  const line = { ours: samples.ours, format: formatMicros };
  return [
    compare({
      ...line,
      what,
      peer: "bare handler, all our headers",
      theirs: samples.headers,
      aim: { atMost: 1.05 },
    }),
    compare({
      what: `Hot rendition, ${kilobytes(fronted.answer)}, \`front\` of Express 5`,
      ours: samples.front,
      format: formatMicros,
      peer: "bare handler, `res.end(buffer)`",
      theirs: samples.buffer,
      aim: { atMost: 0.18 },
    }),
    compare({ ...line, what, peer: "`express.static`", theirs: samples.files, aim: { below: 0.5 } }),
  ];
}

/** @param {Bench} bench */
async function inKoa(bench) {
  const ours = await bench.start("outrigger-koa");
  const { path, answer, file } = await renditionOf(bench, ours);
  const headers = headersOf(answer);
  const withHeaders = await bench.start("koa-buffer", { file, headers });
  const samples = await measure(
    bench,
    {
      ours: await sending(bench, ours, path, answer),
      headers: await sending(bench, withHeaders, "/file.jpg", answer),
    },
    { connections: CONNECTIONS, warmUpFactor: WARM_UP },
  );
  return [
    compare({
      what: `Hot rendition, ${kilobytes(answer)}, Koa 3`,
      ours: samples.ours,
      format: formatMicros,
      peer: "bare handler, all our headers",
      theirs: samples.headers,
      aim: { atMost: 1.2 },
    }),
  ];
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 */
export async function renditionOf(bench, server) {
  const photo = await bench.corpus.photo();
  const id = await upload(server, photo);
  let width = 400;
  let path = "";
  /** @type {Answer | null} */
  let answer = null;
  for (let attempt = 0; attempt < 4; attempt++) {
    path = addressOf(id, `?resize=${width}x`);
    answer = await get(server, path);
    if (Math.abs(answer.body.length / TARGET_BYTES - 1) < 0.03) break;
    width = Math.round(width * Math.sqrt(TARGET_BYTES / answer.body.length));
  }
  if (answer === null) throw new Error("Nothing was rendered");
  const file = join(photo.directory, "hot.jpg");
  await writeFile(file, answer.body);
  return { path, answer, file, directory: dirname(file) };
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {string} path
 * @param {Answer} answer
 * @returns {Promise<Contestant>}
 */
async function sending(bench, server, path, { body }) {
  await bench.checks.bytes(server, path, body);
  return repeating(server, { path, status: 200, length: body.length });
}

/** The headers of an answer that neither Node nor the framework adds. @param {Answer} answer */
function headersOf({ headers }) {
  const theirs = new Set(["date", "connection", "keep-alive", "x-powered-by"]);
  /** @type {Record<string, string>} */
  const ours = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string" && !theirs.has(name)) ours[name] = value;
  }
  return ours;
}

/** @param {Answer} answer */
function kilobytes({ body }) {
  return `${Math.round(body.length / 1000)} KB`;
}
