import { addressOf, upload } from "../src/client.mjs";
import { measure, repeating } from "../src/measure.mjs";
import { compare, formatMicros } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Picture } from "../src/corpus.mjs" */
/** @import { Contestant } from "../src/measure.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const CONNECTIONS = 4;

/** Originals as uploaded, against a read stream of the same bytes. */
export async function originals(/** @type {Bench} */ bench) {
  const [express, koa] = await Promise.all([bench.start("outrigger-express"), bench.start("outrigger-koa")]);
  const lines = [];
  for (const [title, bytes, atMost] of /** @type {const} */ ([
    ["1 MB", 1_000_000, 1.1],
    ["10 MB", 10_000_000, 0.9],
  ])) {
    const picture = await bench.corpus.ofBytes(bytes);
    const { file } = picture;
    const [expressStream, koaStream] = await Promise.all([
      bench.start("express-stream", { file }),
      bench.start("koa-stream", { file }),
    ]);
    const samples = await measure(
      bench,
      {
        express: await original(bench, express, picture),
        koa: await original(bench, koa, picture),
        expressStream: await sending(bench, expressStream, "/file.jpg", picture),
        koaStream: await sending(bench, koaStream, "/file.jpg", picture),
      },
      { connections: CONNECTIONS },
    );
    const line = { format: formatMicros, aim: { atMost }, peer: "`fs.createReadStream`" };
    lines.push(
      compare({
        ...line,
        what: `Original of ${title}, Express 5`,
        ours: samples.express,
        theirs: samples.expressStream,
      }),
      compare({ ...line, what: `Original of ${title}, Koa 3`, ours: samples.koa, theirs: samples.koaStream }),
    );
  }
  return lines;
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {Picture} picture
 */
async function original(bench, server, picture) {
  return sending(bench, server, addressOf(await upload(server, picture)), picture);
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {string} path
 * @param {Picture} picture
 * @returns {Promise<Contestant>}
 */
async function sending(bench, server, path, { bytes }) {
  await bench.checks.bytes(server, path, bytes);
  return repeating(server, { path, status: 200, length: bytes.length });
}
