import { createImageAdmin, createMemoryBlobStore } from "@outrigger/core";
import { createSqlBlobStore } from "@outrigger/sql";
import { upload } from "../src/client.mjs";
import { ownCpuMicros } from "../src/process-tree.mjs";
import { formatMicros } from "../src/report.mjs";
import { median, quantile } from "../src/statistics.mjs";
import { formatColumns } from "../src/table.mjs";
import { fillRecords } from "./fill-records.mjs";

/** @import { PostgresServer } from "../../test/support/postgres-server.ts" */
/** @import { Bench } from "../src/bench.mjs" */

/** Records of images: what a team begins with, and more than the server's own memory holds. */
export const SIZES = {
  full: [100_000, 10_000_000],
  quick: [100_000, 1_000_000],
  smoke: [200, 1000],
};
const LOOK_UPS = { full: 40_000, quick: 10_000, smoke: 100 };
/** Look-ups one at a time, of a turn. */
const SINGLE = { full: 500, quick: 300, smoke: 20 };
const TURNS = { full: 5, quick: 3, smoke: 1 };
/** Look-ups under way, as on a node that serves as many requests. */
const AT_ONCE = 64;
/** Entries that a sweep reads at once from a remote store. */
const PAGE = 200;
const PAGES = { full: 50, quick: 20, smoke: 2 };
const SWEPT = { full: 2000, quick: 500, smoke: 10 };
const WALKED = { full: 200_000, quick: 50_000, smoke: 200 };
const DAY_MS = 86_400_000;

/** @typedef {ReturnType<typeof createSqlBlobStore>} Store */

/**
 * Figures of a PostgreSQL server with so many records. Times are by turn, in microseconds.
 * @typedef {object} RecordFigures
 * @property {number} count
 * @property {number} fillSeconds
 * @property {number} blobBytes Of a record, with its index.
 * @property {number} dueBytes Of an entry of the due list, which is an index and the rows under it.
 * @property {number[]} nodeMicros CPU of the process for a look-up.
 * @property {number[]} serverMicros CPU of PostgreSQL for a look-up.
 * @property {number[]} lookUpMicros Wall time for a look-up, of {@link AT_ONCE} under way.
 * @property {number[]} p99Micros Of look-ups one at a time.
 * @property {number[]} pageMicros Wall time of reading {@link PAGE} due entries.
 * @property {number} sweptPerSecond By one process, images without files.
 * @property {number} walkedPerSecond Records listed and read by one process.
 * @property {number} blockBytes Of a page of a table.
 */

/**
 * The figures as a table, and as inputs of the model: those of the largest size.
 * @param {Bench} bench
 */
export async function describeRecords(bench) {
  const all = await measureRecords(bench);
  const most = all?.at(-1);
  if (all === null || most === undefined) return null;
  const kinds = /** @type {[string, (of: RecordFigures) => string][]} */ ([
    ["record with its index", (of) => `${of.blobBytes.toFixed(0)} bytes`],
    ["due entry with its index", (of) => `${of.dueBytes.toFixed(0)} bytes`],
    ["look-ups per second of one process, 64 at once", (of) => (1e6 / median(of.lookUpMicros)).toFixed(0)],
    ["look-up: CPU of the process", (of) => formatMicros(median(of.nodeMicros))],
    ["look-up: CPU of PostgreSQL", (of) => formatMicros(median(of.serverMicros))],
    ["look-up, one at a time: p99", (of) => formatMicros(median(of.p99Micros))],
    ["page of 200 due entries", (of) => formatMicros(median(of.pageMicros))],
    ["records listed and read per second, one process", (of) => of.walkedPerSecond.toFixed(0)],
    ["expired images swept per second, one process", (of) => of.sweptPerSecond.toFixed(0)],
    ["filled with COPY in", (of) => `${of.fillSeconds.toFixed(0)} s`],
  ]);
  const titles = ["What", ...all.map(({ count }) => `${count.toLocaleString("en")} records`)];
  const rows = kinds.map(([what, of]) => [what, ...all.map(of)]);
  return {
    table: formatColumns(titles, rows, new Set(titles.slice(1))),
    measured: {
      "postgres.records": { value: most.count, unit: "records" },
      "postgres.recordBytes": { value: Math.round(most.blobBytes + most.dueBytes), unit: "bytes" },
      "postgres.lookUpsPerSecond": { value: Math.round(1e6 / median(most.lookUpMicros)), unit: "per second" },
      "postgres.walkedPerSecond": { value: Math.round(most.walkedPerSecond), unit: "records per second" },
      "postgres.sweptPerSecond": { value: Math.round(most.sweptPerSecond), unit: "images per second" },
      "postgres.blockBytes": { value: most.blockBytes, unit: "bytes" },
    },
  };
}

/**
 * @param {Bench} bench
 * @returns {Promise<RecordFigures[] | null>} By size, in the order of {@link SIZES}; `null` where PostgreSQL is not installed.
 */
export async function measureRecords(bench) {
  /** @type {RecordFigures[]} */
  const all = [];
  for (const count of SIZES[bench.settings.mode]) {
    const postgres = await bench.startPostgres();
    if (postgres === null) return null;
    const store = createSqlBlobStore({ url: postgres.url, timeoutMs: 60_000 });
    try {
      all.push(await ofSize(bench, postgres, store, count));
    } finally {
      await store.close();
      // Its data would take space until the end of the row.
      await postgres.close();
    }
  }
  return all;
}

/**
 * @param {Bench} bench
 * @param {PostgresServer} postgres
 * @param {Store} store
 * @param {number} count
 * @returns {Promise<RecordFigures>}
 */
async function ofSize(bench, postgres, store, count) {
  const { mode } = bench.settings;
  const server = await bench.start("outrigger-express", { records: { postgres: postgres.url } });
  const record = await readRecord(store, await upload(server, await bench.corpus.small()));
  await server.stop();
  // Of the one that was uploaded: only copies shall be due.
  await postgres.sql("DELETE FROM images_due");

  const empty = await bytesOf(postgres);
  const began = performance.now();
  const firstDueMs = Date.now() + 30 * DAY_MS;
  const idOf = await fillRecords(postgres, record, count, firstDueMs);
  const fillSeconds = (performance.now() - began) / 1000;
  await checkCopies(bench, postgres, store, record, idOf(0));
  await postgres.sql("ANALYZE images_blobs, images_due");
  const full = await bytesOf(postgres);

  const figures = {
    nodeMicros: /** @type {number[]} */ ([]),
    serverMicros: /** @type {number[]} */ ([]),
    lookUpMicros: /** @type {number[]} */ ([]),
    p99Micros: /** @type {number[]} */ ([]),
    pageMicros: /** @type {number[]} */ ([]),
  };
  const anyId = () => idOf(Math.floor(Math.random() * count));
  const lookUps = LOOK_UPS[mode];
  // Opens the connections, and compiles the code.
  await lookUpAll(store, anyId, Math.ceil(lookUps / 10), AT_ONCE);
  const backends = await postgres.sql(
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'",
  );
  // Its other processes maintain the tables meanwhile.
  const serverCpuMicros = () => backends.split("\n").reduce((sum, pid) => sum + ownCpuMicros(Number(pid)), 0);
  for (let turn = 0; turn < TURNS[mode]; turn++) {
    const [own, others] = [process.cpuUsage(), serverCpuMicros()];
    const began = performance.now();
    await lookUpAll(store, anyId, lookUps, AT_ONCE);
    figures.lookUpMicros.push(((performance.now() - began) * 1000) / lookUps);
    const { user, system } = process.cpuUsage(own);
    figures.nodeMicros.push((user + system) / lookUps);
    figures.serverMicros.push((serverCpuMicros() - others) / lookUps);
    figures.p99Micros.push(quantile(await lookUpAll(store, anyId, SINGLE[mode], 1), 0.99));
    figures.pageMicros.push(await readPages(bench, store, firstDueMs, PAGES[mode]));
  }
  bench.checks.that(`every record was found among ${count}`, true);
  return {
    count,
    fillSeconds,
    blobBytes: (full.blobs - empty.blobs) / count,
    dueBytes: (full.due - empty.due) / count,
    ...figures,
    blockBytes: Number(await postgres.sql("SHOW block_size")),
    walkedPerSecond: await walkRate(store, Math.min(count, WALKED[mode])),
    sweptPerSecond: await sweepRate(bench, postgres, record),
  };
}

/** @param {Store} store @param {string} id @returns {Promise<Record<string, unknown>>} */
async function readRecord(store, id) {
  const found = await store.get(`${id}/record`);
  if (found === null || !Buffer.isBuffer(found.body)) throw new Error(`There is no record of ${id}`);
  return JSON.parse(found.body.toString());
}

/**
 * A copy has exactly the columns of a record that the store itself writes.
 * @param {Bench} bench
 * @param {PostgresServer} postgres
 * @param {Store} store
 * @param {Record<string, unknown>} record
 * @param {string} copyId
 */
async function checkCopies(bench, postgres, store, record, copyId) {
  const copy = await readRecord(store, copyId);
  const { id: _id, expiresAt, ...rest } = copy;
  const { id: _other, expiresAt: _never, ...wanted } = record;
  bench.checks.that("a copy reads as the record", JSON.stringify(rest) === JSON.stringify(wanted));
  const written = `${"A".repeat(21)}Q`;
  await store.put(`${written}/record`, Buffer.from(JSON.stringify({ ...copy, id: written })));
  await store.addDue("images", { id: written, dueMs: Number(expiresAt) });
  const shape = (/** @type {string} */ id) =>
    postgres.sql(`SELECT octet_length(key), octet_length(revision), pg_column_size(b.*), pg_column_size(d.*)
      FROM images_blobs b, images_due d WHERE b.key = '${id}/record' AND d.id = '${id}' AND d.due_ms = ${expiresAt}`);
  const [ofCopy, ofWritten] = [await shape(copyId), await shape(written)];
  bench.checks.that(`a copy is stored as ${ofCopy}, a record as ${ofWritten}`, ofCopy === ofWritten);
  await store.delete(`${written}/record`);
  await store.removeDue("images", { id: written, dueMs: Number(expiresAt) });
}

/** Of both tables with their indexes. @param {PostgresServer} postgres */
async function bytesOf(postgres) {
  const of = async (/** @type {string} */ table) =>
    Number(
      await postgres.sql(
        `SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('${table}') WHERE isleaf`,
      ),
    );
  return { blobs: await of("images_blobs"), due: await of("images_due") };
}

/**
 * @param {Store} store
 * @param {() => string} anyId
 * @param {number} count
 * @param {number} atOnce
 * @returns {Promise<number[]>} The time of each, in microseconds.
 */
async function lookUpAll(store, anyId, count, atOnce) {
  /** @type {number[]} */
  const micros = [];
  let left = count;
  const work = async () => {
    while (left-- > 0) {
      const id = anyId();
      const began = performance.now();
      const found = await store.get(`${id}/record`);
      micros.push((performance.now() - began) * 1000);
      if (found === null) throw new Error(`There is no record of ${id}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return micros;
}

/**
 * The first entries of the list are the due ones.
 * @param {Bench} bench @param {Store} store @param {number} firstDueMs @param {number} pages
 */
async function readPages(bench, store, firstDueMs, pages) {
  const began = performance.now();
  for (let page = 0; page < pages; page++) {
    const entries = await store.listDue("images", firstDueMs + PAGE, PAGE);
    const isRight = entries.length === PAGE && entries[0]?.dueMs === firstDueMs;
    bench.checks.that("a page has the entries that are due first", isRight);
  }
  return ((performance.now() - began) * 1000) / pages;
}

/** Lists records and reads each, as `outrigger images list` does. @param {Store} store @param {number} count */
async function walkRate(store, count) {
  const began = performance.now();
  let walked = 0;
  for (let cursor; walked < count; ) {
    const page = await store.list("", cursor === undefined ? {} : { cursor });
    await Promise.all(page.keys.map((key) => store.get(key)));
    walked += page.keys.length;
    if (page.cursor === null) break;
    cursor = page.cursor;
  }
  return walked / ((performance.now() - began) / 1000);
}

/**
 * @param {Bench} bench
 * @param {PostgresServer} postgres
 * @param {Record<string, unknown>} record
 */
async function sweepRate(bench, postgres, record) {
  const count = SWEPT[bench.settings.mode];
  await fillRecords(postgres, record, count, Date.now() - DAY_MS);
  const files = createMemoryBlobStore();
  const records = createSqlBlobStore({ url: postgres.url });
  // The stores belong together: an earlier row has written the identity.
  const held = await records.get("identity");
  const { v, id } = JSON.parse(String(held?.body));
  await files.put("identity/originals", Buffer.from(JSON.stringify({ v, id })), { ifRevision: null });
  const admin = createImageAdmin({ storage: { records, originals: files, renditions: files } });
  try {
    const began = performance.now();
    const { emptied, failed } = await admin.sweep();
    bench.checks.that(`${emptied} of ${count} due images were swept`, emptied === count && failed === 0);
    return count / ((performance.now() - began) / 1000);
  } finally {
    await admin.close();
  }
}
