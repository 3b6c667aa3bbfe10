import { createHash } from "node:crypto";
import { join } from "node:path";
import { createSqlAccounts, importContacts, openDatabase } from "@outrigger/sql";
import { BENCH_KEY } from "../servers/lookup.mjs";
import { get } from "../src/client.mjs";
import { measure, repeating } from "../src/measure.mjs";
import { compare } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const DOMAINS = 2000;
const PER_DOMAIN = 20;
const DOMAIN = "company1000.example";
const PATH = `/people/v2/domain-search?domain=${DOMAIN}&api_key=${BENCH_KEY}`;

/** The first page of a domain search, key and quota included, against the same statement behind a bare handler. */
export async function measureRow(/** @type {Bench} */ bench) {
  const directory = await bench.makeDirectory("lookup");
  await fill(join(directory, "lookup.db"));
  const ours = await asking(bench, await bench.start("lookup lookupInExpress", { directory }));
  const theirs = await asking(bench, await bench.start("lookup statementInExpress", { directory }));
  const options = { connections: 10, turns: { full: 800, quick: 300, smoke: 20 } };
  const samples = await measure(bench, { ours, theirs }, options);
  return [
    compare({
      what: "Domain search, first page, Express 5",
      ours: samples.ours,
      peer: "bare handler, the same statement",
      theirs: samples.theirs,
      atMost: 1.6,
    }),
  ];
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

/** @param {string} path */
async function fill(path) {
  const database = openDatabase({ url: `file:${path}` });
  await importContacts(database, lines(), { format: "csv" });
  const accounts = createSqlAccounts(database);
  const account = { id: "bench", email: null, firstName: null, lastName: null, plan: "free", createdAt: 0 };
  await accounts.create(account);
  const hash = createHash("sha256").update(BENCH_KEY).digest("base64url");
  await accounts.addKey("bench", hash, { hint: BENCH_KEY.slice(0, 6), createdAt: 0, revokedAt: null });
  await database.close();
}

async function* lines() {
  yield Buffer.from("email,first_name,last_name,position,uri,extracted_on,last_seen_on\n");
  for (let index = 0; index < DOMAINS * PER_DOMAIN; index++) {
    const domain = `company${Math.floor(index / PER_DOMAIN)}.example`;
    const person = `person${index % PER_DOMAIN}@${domain},Ada,Lovelace,Sales Manager`;
    yield Buffer.from(`${person},https://${domain}/team,2026-01-01,2026-02-01\n`);
  }
}
