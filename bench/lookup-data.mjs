// Measures the databases of the lookup: node bench/lookup-data.mjs [--rows=1000000] [--only=sqlite|postgres]
// PostgreSQL is measured where OUTRIGGER_POSTGRES_URL names an empty database.
import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  createSqlAccounts,
  createSqlContactSource,
  importContacts,
  openDatabase,
} from "../packages/sql/dist/index.js";

const { values } = parseArgs({ options: { rows: { type: "string" }, only: { type: "string" } } });
const ROWS = Number(values.rows ?? 1_000_000);
/** One domain has a fifth of all addresses; every other domain has ten. */
const LARGE = Math.floor(ROWS / 5);
const LARGE_DOMAIN = "large.example";
const SMALL_DOMAINS = Math.floor((ROWS - LARGE) / 10);
const FIRST = ["anna", "ben", "carla", "dora", "emil", "fritz", "greta", "hans", "ines", "jonas"];
const TITLES = [
  "Sales Manager",
  "Software Engineer",
  "Chief Financial Officer",
  "Assistant",
  "Head of Marketing",
  "",
];

for (const [name, url] of await targets()) {
  console.log(
    `\n${name}, ${ROWS} rows, ${LARGE} of them in one domain; ${cpus()[0]?.model}, ${availableParallelism()} cores`,
  );
  await measure(url);
}

async function targets() {
  /** @type {[string, string][]} */
  const all = [];
  if (values.only !== "postgres") {
    const directory = await mkdtemp(join(tmpdir(), "outrigger-bench-"));
    all.push(["libsql", `file:${join(directory, "lookup.db")}`]);
  }
  const postgres = process.env.OUTRIGGER_POSTGRES_URL;
  if (values.only !== "sqlite" && postgres !== undefined) all.push(["PostgreSQL", postgres]);
  return all;
}

/** @param {string} url */
async function measure(url) {
  const database = openDatabase({ url, timeoutMs: 60_000 });
  const source = createSqlContactSource(database);
  try {
    await measureImport(database, "import");
    await measureImport(database, "the same again");
    await measureReads(source);
    await measureAccounts(createSqlAccounts(database));
    if (url.startsWith("file:")) console.log(`on disk: ${await megabytes(url.slice(5))} MB`);
  } finally {
    await database.close();
    if (url.startsWith("file:")) await rm(join(url.slice(5), ".."), { recursive: true, force: true });
  }
}

/**
 * @param {import("../packages/sql/dist/index.js").SqlDatabase} database
 * @param {string} label
 */
async function measureImport(database, label) {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  let batches = 0;
  const { added, unchanged } = await importContacts(database, lines(), {
    format: "csv",
    onProgress: () => {
      batches++;
    },
  });
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `${label}: ${added} added, ${unchanged} unchanged, ${batches} batches, ${seconds.toFixed(1)} s, ${Math.round(ROWS / seconds)} rows/s (${Math.round(ROWS / ((user + system) / 1e6))} per second of this process' CPU), RSS ${Math.round(process.memoryUsage().rss / 1e6)} MB`,
  );
}

/** @param {import("@outrigger/core").ContactSource} source */
async function measureReads(source) {
  const small = () => `d${Math.floor(Math.random() * SMALL_DOMAINS)}.example`;
  const page = { limit: 10, offset: 0 };
  await timed("first page of any domain", 20_000, () => source.search(small(), {}, page));
  await timed("first page of the large domain", 5000, () => source.search(LARGE_DOMAIN, {}, page));
  await timed("any page of the large domain", 5000, () =>
    source.search(LARGE_DOMAIN, {}, { limit: 10, offset: Math.floor(Math.random() * LARGE) }),
  );
  await timed("last page of the large domain", 2000, () =>
    source.search(LARGE_DOMAIN, {}, { limit: 10, offset: LARGE - 10 }),
  );
  /** @type {import("@outrigger/core").ContactFilter[]} */
  const filters = [
    { type: "personal" },
    { departments: ["sales"] },
    { seniorities: ["executive"], departments: ["finance", "it"] },
    { type: "generic", departments: ["hr"] },
  ];
  await timed("filtered, any page of the large domain", 300, () => {
    const filter = filters[Math.floor(Math.random() * filters.length)] ?? {};
    return source.search(LARGE_DOMAIN, filter, {
      limit: 10,
      offset: Math.floor(Math.random() * (LARGE / 6)),
    });
  });
  await timed("filtered, first page of any domain", 5000, () =>
    source.search(small(), { type: "personal" }, page),
  );
  await timed("find", 20_000, () => source.find(addressOf(Math.floor(Math.random() * ROWS))));
  await timed("findByName", 5000, () => source.findByName(small(), "Anna", "Meier"));
  await timed("count of the large domain", 2000, () => source.count(LARGE_DOMAIN));
  await timed("facts of the large domain", 2000, () => source.domain(LARGE_DOMAIN));
  await timed("erase from the large domain", 50, (turn) => source.erase(addressOf(turn * 7)));
}

/** @param {import("@outrigger/core").Accounts} accounts */
async function measureAccounts(accounts) {
  const start = performance.now();
  const count = 2000;
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      accounts.reserve({ account: "a", kind: "searches", month: "2026-01", request: `r${index}` }, 1, 100, 0),
    ),
  );
  console.log(
    `reserve: ${Math.round(count / ((performance.now() - start) / 1000))} per second at once, one account`,
  );
}

/**
 * @param {string} label
 * @param {number} count
 * @param {(turn: number) => Promise<unknown>} work
 */
async function timed(label, count, work) {
  /** @type {number[]} */
  const times = [];
  for (let turn = 0; turn < count; turn++) {
    const start = performance.now();
    await work(turn);
    times.push((performance.now() - start) * 1000);
  }
  times.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => Math.round(times[Math.floor(share * (count - 1))] ?? 0);
  console.log(`${label}: p50 ${at(0.5)} µs, p99 ${at(0.99)} µs`);
}

/** In random order, as a crawler finds them. */
async function* lines() {
  yield Buffer.from("email,first_name,last_name,position,phone,source_uri,extracted_on,last_seen_on\n");
  const step = 7919;
  for (let start = 0; start < ROWS; start += 500) {
    let text = "";
    for (let index = start; index < Math.min(ROWS, start + 500); index++)
      text += `${line((index * step) % ROWS)}\n`;
    yield Buffer.from(text);
  }
}

/** @param {number} index */
function line(index) {
  const { first, last, domain } = person(index);
  const day = String(1 + (index % 28)).padStart(2, "0");
  return `${addressOf(index)},${first},${last},${TITLES[index % TITLES.length]},+41 44 ${index},https://www.${domain}/people/${index},2025-0${1 + (index % 9)}-${day},2026-0${1 + (index % 9)}-${day}`;
}

/** @param {number} index */
function addressOf(index) {
  const { first, last, domain } = person(index);
  return `${first}.${last}.${index}@${domain}`;
}

/** @param {number} index */
function person(index) {
  const digest = createHash("md5").update(String(index)).digest("hex");
  const domain = index < LARGE ? LARGE_DOMAIN : `d${(index - LARGE) % SMALL_DOMAINS}.example`;
  return { first: FIRST[index % FIRST.length] ?? "", last: `l${digest.slice(0, 6)}`, domain };
}

/** @param {string} path */
async function megabytes(path) {
  const directory = join(path, "..");
  const sizes = await Promise.all(
    (await readdir(directory)).map(async (name) => (await stat(join(directory, name))).size),
  );
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1e6);
}
