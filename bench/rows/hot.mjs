import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { addressOf, get, upload } from "../src/client.mjs";
import { measure, repeating } from "../src/measure.mjs";
import { compare } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Answer } from "../src/client.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

/** V8 optimises the last functions after some ten thousand requests. */
export const HOT = { connections: 10, turns: { full: 4000, quick: 1500, smoke: 20 }, warmUpTurns: 5 };
/** A rendition of the photograph at this width has about as many bytes as a large thumbnail. */
const TARGET_BYTES = 20_000;

/** A recently requested rendition of about 20 KB, against the same bytes sent by other means. */
export async function measureRow(/** @type {Bench} */ bench) {
  return [...(await inExpress(bench)), await inKoa(bench)];
}

/** @param {Bench} bench */
async function inExpress(bench) {
  const ours = await bench.start("outrigger inExpress");
  const inFront = await bench.start("outrigger inFront");
  const { path, answer, file, directory } = await renditionOf(bench, ours);
  const fronted = await renditionOf(bench, inFront);
  const buffer = await bench.start("express-files buffer", { file });
  const withHeaders = await bench.start("express-files buffer", { file, headers: headersOf(answer) });
  const files = await bench.start("express-files staticFiles", { directory });
  const contestants = {
    ours: await sending(bench, ours, path, answer),
    front: await sending(bench, inFront, fronted.path, fronted.answer),
    buffer: await sending(bench, buffer, "/file.jpg", answer),
    headers: await sending(bench, withHeaders, "/file.jpg", answer),
    files: await sending(bench, files, "/hot.jpg", answer),
  };
  const samples = await measure(bench, contestants, HOT);
  const line = { what: "Hot rendition, 20 KB, Express 5", ours: samples.ours };
  return [
    compare({
      ...line,
      peer: "bare handler, all our headers",
      theirs: samples.headers,
      atMost: 1.05,
    }),
    compare({
      what: "Hot rendition, 20 KB, `front` of Express 5",
      ours: samples.front,
      peer: "bare handler, `res.end(buffer)`",
      theirs: samples.buffer,
      atMost: 0.18,
    }),
    compare({ ...line, peer: "`express.static`", theirs: samples.files, atMost: 0.5 }),
  ];
}

/** @param {Bench} bench */
async function inKoa(bench) {
  const ours = await bench.start("outrigger inKoa");
  const { path, answer, file } = await renditionOf(bench, ours);
  const withHeaders = await bench.start("koa-files buffer", { file, headers: headersOf(answer) });
  const contestants = {
    ours: await sending(bench, ours, path, answer),
    headers: await sending(bench, withHeaders, "/file.jpg", answer),
  };
  const samples = await measure(bench, contestants, HOT);
  return compare({
    what: "Hot rendition, 20 KB, Koa 3",
    ours: samples.ours,
    peer: "bare handler, all our headers",
    theirs: samples.headers,
    atMost: 1.2,
  });
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 */
export async function renditionOf(bench, server) {
  const photo = await bench.corpus.photo();
  const id = await upload(server, photo);
  let width = 400;
  for (let attempt = 0; ; attempt++) {
    const path = addressOf(id, `?resize=${width}x`);
    const answer = await get(server, path);
    const { length } = answer.body;
    if (attempt === 3 || Math.abs(length / TARGET_BYTES - 1) < 0.03) {
      const file = join(photo.directory, "hot.jpg");
      await writeFile(file, answer.body);
      return { path, answer, file, directory: photo.directory };
    }
    width = Math.round(width * Math.sqrt(TARGET_BYTES / length));
  }
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {string} path
 * @param {Answer} answer
 */
async function sending(bench, server, path, { body }) {
  await bench.checks.bytes(server, path, body);
  return repeating(server, { path, status: 200, length: body.length });
}

/** The headers of an answer that neither Node nor the framework adds. @param {Answer} answer */
function headersOf({ headers }) {
  const theirs = new Set(["date", "connection", "keep-alive", "x-powered-by"]);
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && !theirs.has(name) ? [[name, value]] : [],
    ),
  );
}
