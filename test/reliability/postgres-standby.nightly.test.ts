// Nightly: a PostgreSQL standby behind a pooler.
import { createMemoryBlobStore } from "@outrigger/core";
import {
  createSqlAccounts,
  createSqlBlobStore,
  createSqlContactSource,
  createSqlSuppressionList,
  openDatabase,
  type SqlBlobStore,
  type SqlDatabase,
} from "@outrigger/sql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PgBouncer, startPgBouncer } from "../support/pgbouncer.ts";
import { pngPhoto } from "../support/pictures.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { addressOf, startSite, upload } from "../support/service.ts";

const STANDBY = { code: "store_unavailable", message: expect.stringContaining("is a standby") };
let primary: PostgresServer;
let standby: PostgresServer;
let pooler: PgBouncer;
beforeAll(async () => {
  primary = await startPostgres();
  pooler = await startPgBouncer(primary.port);
  // The tables are there before the standby stops to follow.
  const store = createSqlBlobStore({ url: primary.url });
  await store.put("first/record", Buffer.from("x"));
  await store.close();
  const database = openDatabase({ url: primary.url });
  await database.ready();
  await database.close();
  standby = await startPostgres({ standbyOf: primary.port });
  await standby.sql("SELECT pg_wal_replay_pause()");
});
afterAll(async () => {
  await pooler?.close();
  await standby?.close();
  await primary?.close();
});

/** Runs `work` while the pooler leads to the standby. */
async function onStandby(work: () => Promise<void>): Promise<void> {
  await pooler.leadTo(standby.port);
  try {
    await work();
  } finally {
    await pooler.leadTo(primary.port);
  }
}

test("nodes that only read serve no deleted image after PgBouncer is led to a lagging standby, and recover with the primary", async () => {
  const bytes = createMemoryBlobStore();
  const secret = Buffer.alloc(32, 1);
  const open = () => {
    const records = createSqlBlobStore({ url: pooler.url });
    return startSite({ storage: { records, originals: bytes, renditions: bytes }, secret });
  };
  const nodes = [await open(), await open()] as const;
  try {
    const [writer, reader] = nodes;
    const images = await Promise.all(
      [1, 2, 3].map(async () => upload(writer, await pngPhoto(), "image/png")),
    );
    const kept = await upload(writer, await pngPhoto(), "image/png");
    const read = (site: typeof writer, { id }: { id: string }) =>
      fetch(addressOf(site, id, "png")).then(({ status }) => status);
    const readAll = () => Promise.all(nodes.flatMap((site) => images.map((image) => read(site, image))));
    expect(await readAll()).toEqual(Array(6).fill(200));
    // As the standby stays: replayed up to here, it has all images.
    await standby.sql("SELECT pg_wal_replay_resume()");
    await expect
      .poll(() => standby.sql("SELECT count(*) FROM images_blobs WHERE key LIKE '%/record'"), {
        timeout: 20_000,
      })
      .toBe(await primary.sql("SELECT count(*) FROM images_blobs WHERE key LIKE '%/record'"));
    await standby.sql("SELECT pg_wal_replay_pause()");
    for (const { id } of images) await writer.images.remove(id);
    expect(await readAll()).toEqual(Array(6).fill(410));
    await onStandby(async () => {
      for (let round = 0; round < 3; round++) {
        expect(await readAll()).toEqual(Array(6).fill(503));
        expect(await Promise.all(nodes.map((site) => read(site, kept)))).toEqual([503, 503]);
        expect(await Promise.all(nodes.map((site) => read(site, { id: "A".repeat(22) })))).toEqual([
          503, 503,
        ]);
      }
    });
    expect(await readAll()).toEqual(Array(6).fill(410));
    expect(await read(reader, kept)).toBe(200);
  } finally {
    for (const node of nodes) await node.close();
  }
});

/** All calls of a store for records, most of which find nothing. */
const storeCalls = (store: SqlBlobStore): (() => Promise<unknown>)[] => [
  () => store.get("first/record"),
  () => store.get("absent/record"),
  () => Promise.all(Array.from({ length: 20 }, (_, at) => store.get(`absent/${at}`))),
  () => store.stat("absent/record"),
  () => store.list("absent/"),
  () => store.list(""),
  () => store.listDue("list", 1, 10),
  () => store.findRecords({ state: "ready" }, 0),
  () => store.countRecords(0, 0),
  () => store.warnings(),
  () => store.put("absent/record", Buffer.from("x"), { ifRevision: "other" }),
  () => store.delete("absent/record"),
  () => store.addDue("list", { id: "absent", dueMs: 2 }),
  () => store.removeDue("list", { id: "absent", dueMs: 2 }),
  () => store.acquireLease("absent", 100),
  () => store.renewLease("absent", "proof", 100),
  () => store.releaseLease("absent", "proof"),
];

/** The calls of the lookup that read, with most of which nothing is found. */
function lookupCalls(database: SqlDatabase): (() => Promise<unknown>)[] {
  const [accounts, contacts] = [createSqlAccounts(database), createSqlContactSource(database)];
  const list = createSqlSuppressionList(database);
  const charge = { account: "absent", month: "2026-01", kind: "searches", request: "a" } as const;
  return [
    () => accounts.get("absent"),
    () => accounts.findByKey("absent"),
    () => accounts.keys("absent"),
    () => accounts.list({ limit: 10 }),
    () => accounts.usage("absent", "2026-01", 0),
    () => accounts.reserve(charge, 1, 0, 0),
    () => accounts.settle(charge, 1),
    () => contacts.domain("absent.example"),
    () => contacts.domainOf("absent"),
    () => contacts.search("absent.example", {}, { offset: 0, limit: 10 }),
    () => contacts.find("absent@absent.example"),
    () => contacts.findByName("absent.example", "An", "Absent"),
    () => contacts.count("absent.example"),
    () => contacts.erase("absent@absent.example"),
    () => list.present(["a".repeat(43)]),
    () => list.count(),
  ];
}

test("every call to a store and to the lookup's database rejects behind PgBouncer on a standby, also where it finds nothing, and works again on the primary", async () => {
  const [store, database] = [createSqlBlobStore({ url: pooler.url }), openDatabase({ url: pooler.url })];
  const calls = [...storeCalls(store), ...lookupCalls(database)];
  const conflict = /conflict|changed by another call/;
  const answered = async () => {
    for (const call of calls) {
      await call().catch((error) => expect(String(error), String(call)).toMatch(conflict));
    }
  };
  try {
    await answered();
    await onStandby(async () => {
      for (const call of calls) {
        await expect(call(), String(call)).rejects.toMatchObject({ code: "store_unavailable" });
      }
    });
    await answered();
  } finally {
    await store.close();
    await database.close();
  }
});

test("a statement refused by a standby closes the connections that were opened before it", async () => {
  const store = createSqlBlobStore({ url: pooler.url });
  const clients = async () => new Set(await pooler.clientPorts());
  try {
    await Promise.all(Array.from({ length: 5 }, () => store.stat("absent")));
    const before = await clients();
    expect(before.size).toBe(5);
    await onStandby(async () => {
      await expect(store.stat("absent")).rejects.toMatchObject(STANDBY);
    });
    await Promise.all(Array.from({ length: 5 }, () => store.stat("absent")));
    for (const port of await clients()) expect(before).not.toContain(port);
  } finally {
    await store.close();
  }
});
