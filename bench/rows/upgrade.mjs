import { addressOf, get, upload } from "../src/client.mjs";
import { compare, formatMicros } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const NODES = 3;
const IMAGES = { full: 4, quick: 3, smoke: 1 };
const WIDTHS = {
  full: [200, 320, 480, 640, 800, 1024],
  quick: [200, 320, 480, 640, 800, 1024],
  smoke: [200],
};
const ROUNDS = { full: 4, quick: 2, smoke: 1 };
/** Revalidations and storage after the replies count, too. */
const SETTLE_MS = { full: 1500, quick: 1500, smoke: 100 };

/** A rendition, and the entity tag that caches hold. @typedef {{ path: string, etag: string }} Known */

/**
 * Three nodes with a new release of the renderer, against three nodes that only restarted. A revalidating cache and an
 * empty cache request all renditions from each.
 * @param {Bench} bench
 */
export async function upgrade(bench) {
  const { mode } = bench.settings;
  const redis = await bench.startRedis();
  if (redis === null) return [];
  const directory = await bench.makeDirectory("upgrade");
  const start = (/** @type {string} */ build) =>
    Promise.all(
      Array.from({ length: NODES }, () =>
        bench.start("outrigger-express", { directory, records: { redis: redis.url }, build }),
      ),
    );
  const known = await fill(bench, await start("old"));

  /** CPU of all nodes per request. @param {string} build */
  const cost = async (build) => {
    const nodes = await start(build);
    // Not measured: code is compiled.
    await Promise.all(nodes.map((node) => get(node, "/img/api/images/none.png")));
    const before = await cpuOf(nodes);
    for (const { path, etag } of known) {
      await Promise.all(nodes.map((node) => expectReply(node, path, { "If-None-Match": etag }, 304)));
      await Promise.all(nodes.map((node) => expectReply(node, path, {}, 200)));
    }
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS[mode]));
    const micros = (await cpuOf(nodes)) - before;
    await Promise.all(nodes.map((node) => node.stop()));
    return micros / (2 * NODES * known.length);
  };
  /** @type {number[]} */
  const upgraded = [];
  /** @type {number[]} */
  const restarted = [];
  for (let round = 0; round < ROUNDS[mode]; round++) {
    restarted.push(await cost("old"));
    upgraded.push(await cost(`new${round}`));
  }
  return [
    compare({
      what: `CPU of ${NODES} nodes after a renderer upgrade, each request`,
      peer: "the same release started again",
      ours: upgraded,
      theirs: restarted,
      format: formatMicros,
      aim: { atMost: 1.2 },
    }),
  ];
}

/** @param {Bench} bench @param {ServerProcess[]} nodes @returns {Promise<Known[]>} */
async function fill(bench, nodes) {
  const [node] = nodes;
  if (node === undefined) throw new Error("There is no node");
  /** @type {Known[]} */
  const known = [];
  for (let image = 0; image < IMAGES[bench.settings.mode]; image++) {
    const id = await upload(node, await bench.corpus.photo());
    for (const width of WIDTHS[bench.settings.mode]) {
      const path = addressOf(id, `?resize=${width}x`);
      await bench.checks.resized(node, path, width);
      known.push({ path, etag: (await get(node, path)).headers.etag ?? "" });
    }
  }
  await Promise.all(nodes.map((each) => each.stop()));
  return known;
}

/** @param {ServerProcess} node @param {string} path @param {Record<string, string>} headers @param {number} status */
async function expectReply(node, path, headers, status) {
  const answer = await get(node, path, headers);
  if (answer.status !== status) throw new Error(`${path} was answered with ${answer.status}, not ${status}`);
}

/** @param {ServerProcess[]} nodes */
async function cpuOf(nodes) {
  const each = await Promise.all(nodes.map((node) => node.cpuMicros()));
  return each.reduce((sum, micros) => sum + micros, 0);
}
