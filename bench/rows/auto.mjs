import { addressOf, get, upload } from "../src/client.mjs";
import { measure, repeating } from "../src/measure.mjs";
import { compare, formatMicros } from "../src/report.mjs";
import { WARM_UP } from "./hot.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Line } from "../src/report.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const NAMES = { jpg: "JPEG", webp: "WebP", avif: "AVIF" };
const WIDTHS = { full: [800, 2000], quick: [800, 2000], smoke: [400] };
/** Cold renditions, one after the other, each in a width not requested before. */
const TURN_REQUESTS = { full: 4, quick: 3, smoke: 1 };
/** A rendition is still being stored after the reply. */
const SETTLE_MS = 150;
const HOT_CONNECTIONS = 10;
/** What a current browser sends for an `<img>`. */
const BROWSER = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8";

/**
 * What `convert=auto` costs and saves against `high` of the same format, and `.auto` against the address that names the
 * format.
 */
export async function auto(/** @type {Bench} */ bench) {
  const lines = [];
  const picture = await bench.corpus.scene();
  const servers = {
    ours: await bench.start("outrigger-express"),
    theirs: await bench.start("outrigger-express"),
  };
  const ids = { ours: await upload(servers.ours, picture), theirs: await upload(servers.theirs, picture) };
  for (const width of WIDTHS[bench.settings.mode]) {
    for (const [format, name] of Object.entries(NAMES)) {
      lines.push(...(await compareQualities(bench, servers, ids, { format, name, width })));
    }
  }
  return [...lines, ...(await compareNegotiated(bench, servers, ids))];
}

/** @typedef {Record<"ours" | "theirs", ServerProcess>} Servers */
/** @typedef {Record<"ours" | "theirs", string>} Ids */

/**
 * @param {Bench} bench
 * @param {Servers} servers
 * @param {Ids} ids
 * @param {{ format: string, name: string, width: number }} wanted
 * @returns {Promise<Line[]>}
 */
async function compareQualities(bench, servers, ids, { format, name, width }) {
  /** @type {Record<"ours" | "theirs", string[]>} */
  const paths = { ours: [], theirs: [] };
  const contestant = (/** @type {"ours" | "theirs"} */ who, /** @type {string} */ convert) => ({
    server: servers[who],
    requests: (/** @type {number} */ count) =>
      Array.from({ length: count }, () => {
        const path = addressOf(ids[who], `?convert=${convert}&resize=${width - paths[who].length}x`, format);
        paths[who].push(path);
        return { path, status: 200 };
      }),
  });
  const samples = await measure(
    bench,
    { ours: contestant("ours", "auto"), theirs: contestant("theirs", "high") },
    { connections: 1, turnRequests: TURN_REQUESTS[bench.settings.mode], settleMs: SETTLE_MS },
  );
  const bytes = {
    ours: await lengthsOf(servers.ours, paths.ours),
    theirs: await lengthsOf(servers.theirs, paths.theirs),
  };
  bench.checks.that(
    `${format}, ${width} px: convert=auto has more bytes than high`,
    bytes.ours.every((length, index) => length <= (bytes.theirs[index] ?? 0)),
  );
  const what = `${name}, 4000 × 3000 JPEG → ${width} px, cold, \`convert=auto\``;
  return [
    compare({ what: `${what}, CPU`, peer: "`convert=high`", ...samples, format: formatMicros }),
    compare({
      what: `${what}, bytes`,
      peer: "`convert=high`",
      ...bytes,
      format: kilobytes,
      aim: { atMost: 1 },
    }),
  ];
}

/**
 * @param {Bench} bench
 * @param {Servers} servers
 * @param {Ids} ids
 * @returns {Promise<Line[]>}
 */
async function compareNegotiated(bench, servers, ids) {
  const query = "?resize=400x";
  const headers = { Accept: BROWSER };
  const negotiated = addressOf(ids.ours, query, "auto");
  const named = addressOf(ids.theirs, query, "avif");
  const { body } = await get(servers.theirs, named);
  const jpeg = await get(servers.theirs, addressOf(ids.theirs, query, "jpg"));
  const answer = await get(servers.ours, negotiated, headers);
  bench.checks.that("auto is not the named rendition", answer.body.equals(body));
  const samples = await measure(
    bench,
    {
      ours: repeating(servers.ours, { path: negotiated, headers, status: 200, length: body.length }),
      theirs: repeating(servers.theirs, { path: named, headers, status: 200, length: body.length }),
    },
    { connections: HOT_CONNECTIONS, warmUpFactor: WARM_UP },
  );
  const what = "Hot rendition, 400 px, `.auto` for a browser";
  return [
    compare({ what: `${what}, CPU`, peer: "`.avif`", ...samples, format: formatMicros }),
    compare({
      what: `${what}, bytes`,
      peer: "`.jpg`",
      ours: [answer.body.length],
      theirs: [jpeg.body.length],
      format: kilobytes,
    }),
  ];
}

/**
 * @param {ServerProcess} server
 * @param {readonly string[]} paths
 */
async function lengthsOf(server, paths) {
  const lengths = [];
  for (const path of paths) lengths.push((await get(server, path)).body.length);
  return lengths;
}

/** @param {number} bytes */
function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
