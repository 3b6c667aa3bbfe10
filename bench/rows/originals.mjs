import { addressOf, upload } from "../src/client.mjs";
import { measure, repeating } from "../src/measure.mjs";
import { compare, formatMicros } from "../src/report.mjs";
import { WARM_UP } from "./hot.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Picture } from "../src/corpus.mjs" */
/** @import { Contestant } from "../src/measure.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const CONNECTIONS = 4;
const BYTES = 10_000_000;

/** Originals as uploaded, against a read stream of the same bytes; and named for a proxy, against sent by the node. */
export async function originals(/** @type {Bench} */ bench) {
  return [await sent(bench), await named(bench)];
}

/** @param {Bench} bench */
async function sent(bench) {
  const picture = await bench.corpus.ofBytes(BYTES);
  const ours = await bench.start("outrigger-express");
  const stream = await bench.start("express-stream", { file: picture.file });
  const samples = await measure(
    bench,
    {
      ours: await original(bench, ours, picture),
      stream: await sending(bench, stream, "/file.jpg", picture),
    },
    { connections: CONNECTIONS },
  );
  return compare({
    what: "Original of 10 MB, Express 5",
    ours: samples.ours,
    peer: "`fs.createReadStream`",
    theirs: samples.stream,
    format: formatMicros,
    aim: { atMost: 0.9 },
  });
}

/** @param {Bench} bench */
async function named(bench) {
  const picture = await bench.corpus.ofBytes(BYTES);
  const [naming, sending] = await Promise.all([
    bench.start("outrigger-express", { sendfile: true, directory: await bench.makeDirectory("sendfile") }),
    bench.start("outrigger-express"),
  ]);
  const path = addressOf(await upload(naming, picture));
  const samples = await measure(
    bench,
    {
      named: repeating(naming, { path, status: 200, length: 0 }),
      sent: await original(bench, sending, picture),
    },
    { connections: CONNECTIONS, warmUpFactor: WARM_UP },
  );
  return compare({
    what: "Original of 10 MB by `sendfile`, CPU of the node, Express 5",
    ours: samples.named,
    peer: "sent by the node",
    theirs: samples.sent,
    format: formatMicros,
    aim: { atMost: 0.1 },
  });
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
