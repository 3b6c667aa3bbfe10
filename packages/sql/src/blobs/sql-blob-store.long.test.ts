import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres-server.ts";
import { PARTS, partOf } from "./blob-statements.ts";
import { createSqlBlobStore, type SqlBlobStore, type SqlBlobStoreOptions } from "./sql-blob-store.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

const opened: SqlBlobStore[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

function open(options: Partial<SqlBlobStoreOptions> = {}): SqlBlobStore {
  const store = createSqlBlobStore({ url: server.url, timeoutMs: 20_000, ...options });
  opened.push(store);
  return store;
}

describe("the tables of a store in PostgreSQL", () => {
  test("stores that open at once create the tables once, and see each other's blobs", async () => {
    const stores = Array.from({ length: 8 }, () => open({ prefix: "at_once" }));
    const added = await Promise.all(stores.map((store, at) => store.put(`image/${at}`, Buffer.from("x"))));
    expect(new Set(added.map(({ revision }) => revision)).size).toBe(8);
    expect((await stores[0]?.list("image/"))?.keys).toHaveLength(8);
    expect(
      await server.sql("SELECT count(*) FROM pg_inherits WHERE inhparent = 'at_once_blobs'::regclass"),
    ).toBe(String(PARTS));
  });

  test("stores with different prefixes in one database are independent", async () => {
    const [one, other] = [open({ prefix: "one" }), open({ prefix: "other" })];
    await one.put("image/record", Buffer.from("x"));
    await one.addDue("list", { id: "image", dueMs: 1 });
    expect(await one.acquireLease("image", 1000)).not.toBeNull();
    expect(await other.stat("image/record")).toBeNull();
    expect(await other.list("")).toEqual({ keys: [] });
    expect(await other.listDue("list", 1, 1)).toEqual([]);
    expect(await other.acquireLease("image", 1000)).not.toBeNull();
  });

  test("a look-up and a page of due entries use indexes of the partitions, never a scan of a table", async () => {
    const store = open({ prefix: "plans" });
    await store.put("image/record", Buffer.from("x"));
    const part = partOf("image/record");
    const plan = (statement: string) =>
      server
        .sql(`SET enable_seqscan = off; EXPLAIN (COSTS OFF) ${statement}`)
        .then((text) => text.split("\n"));
    const lookUp = await plan(
      `SELECT revision, bytes FROM plans_blobs WHERE part = ${part}::smallint AND key = 'image/record'`,
    );
    expect(lookUp[0]).toContain(`Index Scan using plans_blobs_${part}_pkey on plans_blobs_${part}`);
    const due = await plan(
      "SELECT id FROM plans_due WHERE list = 'a' AND due_ms <= 5 ORDER BY due_ms, id LIMIT 10",
    );
    expect(due.filter((line) => line.includes("Index Only Scan"))).toHaveLength(PARTS);
    expect(due.join()).not.toContain("Sort Key: plans_due_1.due_ms, plans_due_1.id,");
    const all = await plan(
      "SELECT part, key FROM plans_blobs WHERE (part, key) > (3, 'a') ORDER BY part, key LIMIT 10",
    );
    expect(all.join()).not.toMatch(/Sort|Seq Scan/);
  });

  test("all keys with one first segment lie in one partition, and IDs spread evenly", () => {
    expect(partOf("image/record")).toBe(partOf("image/a/b"));
    expect(partOf("image")).toBe(partOf("image/"));
    const parts = Array.from({ length: 100 * PARTS }, (_, at) =>
      partOf(createHash("md5").update(`${at}`).digest("base64url")),
    );
    for (let part = 0; part < PARTS; part++) {
      expect(parts.filter((each) => each === part).length).toBeGreaterThan(60);
    }
    // Stored rows depend on these numbers.
    expect(["a", "image/record", "owners/x", "identity"].map(partOf)).toEqual([12, 17, 29, 5]);
  });

  test("a schema of another version is refused with host_misuse and not changed", async () => {
    await open({ prefix: "newer" }).stat("a");
    await server.sql("UPDATE newer_schema SET version = 99");
    await expect(open({ prefix: "newer" }).stat("a")).rejects.toMatchObject({
      code: "host_misuse",
      message: expect.stringContaining("newer_schema has version 99"),
    });
  });

  test("a user that may not create tables is refused, and works once another has created them", async () => {
    await server.sql("CREATE USER reader; REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    const url = server.url.replace("test@", "reader@");
    const store = open({ url, prefix: "granted" });
    await expect(store.stat("a")).rejects.toMatchObject({
      code: "store_unavailable",
      message: "The database user lacks a permission.",
    });
    await open({ prefix: "granted" }).put("a", Buffer.from("x"));
    await server.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO reader");
    expect(await store.stat("a")).toMatchObject({ size: 1 });
    await store.put("a", Buffer.from("xy"));
    expect(await store.delete("a")).toBe(true);
  });
});

describe("a store in PostgreSQL", () => {
  test("stores 16 MiB and rejects a longer blob with too_large, given as a buffer or a stream", async () => {
    const store = open();
    const largest = Buffer.alloc(16 * 2 ** 20, 1);
    await store.put("large/one", largest);
    expect(await store.stat("large/one")).toMatchObject({ size: largest.length });
    const longer = Buffer.concat([largest, Buffer.from("x")]);
    await expect(store.put("large/two", longer)).rejects.toMatchObject({ code: "too_large" });
    const stream = Readable.from([largest, Buffer.from("x")]);
    await expect(store.put("large/two", stream)).rejects.toMatchObject({ code: "too_large" });
    expect(stream.destroyed).toBe(true);
    expect(await store.stat("large/two")).toBeNull();
  });

  test("a call gets its reply although the process was busy for longer than the time limit", async () => {
    const store = open({ timeoutMs: 500 });
    await store.put("busy", Buffer.from("x"));
    // Opens as many connections as the calls take.
    await Promise.all([store.get("busy"), store.stat("busy"), store.stat("busy")]);
    const calls = [store.get("busy"), store.stat("busy"), store.put("other", Buffer.from("xy"))];
    // By then they are sent.
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    const beganAt = performance.now();
    while (performance.now() - beganAt < 800);
    expect(await Promise.all(calls)).toMatchObject([{ size: 1 }, { size: 1 }, { size: 2 }]);
  });

  test("warns of settings that lose blobs, each with its remedy", async () => {
    // The server of the tests does not flush.
    expect(await open().warnings()).toEqual([expect.stringContaining("Set `fsync = on`")]);
  });

  test("expired leases of dead holders are deleted after an hour", async () => {
    const store = open({ prefix: "leases" });
    await store.acquireLease("dead/one", 100);
    await server.sql("UPDATE leases_leases SET expires_at = expires_at - interval '2 hours'");
    for (let at = 0; at < 100; at++) await store.acquireLease(`living/${at}`, 60_000);
    expect(await server.sql("SELECT count(*) FROM leases_leases WHERE key = 'dead/one'")).toBe("0");
  });

  test.each([
    [{ url: "file:records.db" }],
    [{ url: "redis://localhost" }],
    [{ prefix: "" }],
    [{ prefix: "1a" }],
    [{ prefix: 'a"b' }],
    [{ prefix: "a".repeat(31) }],
    [{ timeoutMs: 49 }],
    [{ maxConnections: 0 }],
  ])("throws a TypeError for the options %j", (options) => {
    expect(() => createSqlBlobStore({ url: "postgres://localhost/a", ...options })).toThrow(TypeError);
  });
});
