import { measure, repeating } from "../src/measure.mjs";
import { compare } from "../src/report.mjs";
import { renditionOf } from "./hot.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { ServerOptions } from "../servers/required.mjs" */

const TITLES = { redis: "Redis", postgres: "PostgreSQL" };
const AIMS = { redis: 1.5, postgres: 2 };
const SETTLE_MS = 500;
const TURNS = { full: 1000, quick: 400, smoke: 20 };

/** A rendition in memory whose record is in a remote store: each reply checks that the image may still be served. */
export async function measureRow(/** @type {Bench} */ bench) {
  const local = await open(bench, {});
  const lines = [];
  for (const name of /** @type {const} */ (["redis", "postgres"])) {
    const store = await bench.startStore(name);
    if (store === null) continue;
    const directory = await bench.makeDirectory(name);
    const remote = await open(bench, { directory, records: { [name]: store.url } });
    const samples = await measure(bench, { remote, local }, { connections: 10, turns: TURNS });
    lines.push(
      compare({
        what: `Hot rendition, 20 KB, Express 5, record in ${TITLES[name]}: CPU`,
        peer: "record in a directory",
        ours: samples.remote,
        theirs: samples.local,
        atMost: AIMS[name],
      }),
    );
  }
  return lines;
}

/**
 * @param {Bench} bench
 * @param {ServerOptions} options
 */
async function open(bench, options) {
  const server = await bench.start("outrigger inExpress", options);
  const { path, answer } = await renditionOf(bench, server);
  await bench.checks.bytes(server, path, answer.body);
  // The rendition is stored after its first reply.
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return repeating(server, { path, status: 200, length: answer.body.length });
}
