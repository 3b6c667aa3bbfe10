import { createHash } from "node:crypto";
import { join } from "node:path";
import { createSqlAccounts, importContacts, openDatabase } from "@outrigger/sql";
import { BENCH_KEY } from "../servers/lookup.mjs";
import { get } from "../src/client.mjs";
import { measure, repeating } from "../src/measure.mjs";
import { compare, formatMicros } from "../src/report.mjs";
import { median } from "../src/statistics.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const DOMAINS = 2000;
const PER_DOMAIN = 20;
const DOMAIN = "company1000.example";
/** A domain whose search by name must not depend on its size. */
const LARGE_DOMAIN = "large.example";
const LARGE = { full: 100_000, quick: 100_000, smoke: 1000 };
const READS = { full: 2000, quick: 500, smoke: 5 };
const SURNAMES = ["Lovelace", "Hopper", "Turing", "Noether", "Curie"];
const PATH = `/people/v2/domain-search?domain=${DOMAIN}&api_key=${BENCH_KEY}`;

/**
 * The first page of a domain search, key and quota included, against the same statement behind a bare handler; and
 * its latency beside a client that asks the finder about a large domain in a loop.
 */
export async function lookup(/** @type {Bench} */ bench) {
  const directory = await bench.makeDirectory("lookup");
  await fill(join(directory, "lookup.db"), LARGE[bench.settings.mode]);
  const ours = await bench.start("lookup-express", { directory });
  const theirs = await bench.start("express-statement", { directory });
  const contestants = { ours: await asking(bench, ours), theirs: await asking(bench, theirs) };
  const samples = await measure(bench, contestants, { connections: 10 });
  const { quiet, busy } = await besideFinder(bench, ours);
  return [
    compare({
      what: "Domain search, first page, Express 5",
      ours: samples.ours,
      peer: "bare handler, the same statement",
      theirs: samples.theirs,
      format: formatMicros,
      aim: { atMost: 1.6 },
    }),
    compare({
      what: "Median of a domain search beside a finder loop on 100,000 contacts",
      peer: "the same without load",
      ours: busy,
      theirs: quiet,
      format: (ms) => `${ms.toFixed(2)} ms`,
      aim: { atMost: 2 },
    }),
  ];
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 */
async function besideFinder(bench, { port }) {
  const { mode, rounds } = bench.settings;
  const searchMs = async () => {
    const requests = [{ path: PATH, status: 200 }];
    const { latenciesMs } = await bench.load.run({ port, requests, count: READS[mode], connections: 1 });
    return median(latenciesMs);
  };
  const finder = `/people/v2/email-finder?domain=${LARGE_DOMAIN}&first_name=Ada&api_key=${BENCH_KEY}`;
  const requests = SURNAMES.map((name) => ({ path: `${finder}&last_name=${name}`, status: 200 }));
  const greedy = bench.startLoad();
  /** @type {Record<"quiet" | "busy", number[]>} */
  const times = { quiet: [], busy: [] };
  for (let round = 0; round < rounds; round++) {
    times.quiet.push(await searchMs());
    const loop = greedy.start({ port, requests, connections: 1 });
    times.busy.push(await searchMs());
    await loop.stop();
  }
  return times;
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 */
async function asking(bench, server) {
  const { body } = await get(server, PATH);
  if (!body.includes(`person0@${DOMAIN}`)) throw new Error(`No such page: ${body}`);
  await bench.checks.bytes(server, PATH, body);
  return repeating(server, { path: PATH, status: 200, length: body.length });
}

/**
 * @param {string} path
 * @param {number} large Contacts of the large domain.
 */
async function fill(path, large) {
  const database = openDatabase({ url: `file:${path}` });
  await importContacts(database, lines(large), { format: "csv" });
  const accounts = createSqlAccounts(database);
  const account = { id: "bench", email: null, firstName: null, lastName: null, plan: "free", createdAt: 0 };
  await accounts.create(account);
  const hash = createHash("sha256").update(BENCH_KEY).digest("base64url");
  await accounts.addKey("bench", hash, { hint: BENCH_KEY.slice(0, 6), createdAt: 0, revokedAt: null });
  await database.close();
}

/** @param {number} large */
async function* lines(large) {
  yield Buffer.from("email,first_name,last_name,position,uri,extracted_on,last_seen_on\n");
  const line = (/** @type {string} */ person, /** @type {string} */ name, /** @type {string} */ domain) =>
    Buffer.from(`${person}@${domain},${name},https://${domain}/team,2026-01-01,2026-02-01\n`);
  for (let index = 0; index < DOMAINS * PER_DOMAIN; index++) {
    const domain = `company${Math.floor(index / PER_DOMAIN)}.example`;
    yield line(`person${index % PER_DOMAIN}`, "Ada,Lovelace,Sales Manager", domain);
  }
  for (let index = 0; index < large; index++) {
    yield line(`p${index}`, `Ben,${SURNAMES[index % SURNAMES.length]}son,`, LARGE_DOMAIN);
  }
}
