import { setTimeout as delay } from "node:timers/promises";
import type { BlobStore } from "@outrigger/core/stores";
import { expect, test } from "vitest";
import {
  type PostgresOptions,
  type PostgresServer,
  startPostgres,
} from "../../../../test/support/postgres-server.ts";
import { createSqlBlobStore, type SqlBlobStore } from "./sql-blob-store.ts";

const UNAVAILABLE = { code: "store_unavailable" };

async function withServer(
  options: PostgresOptions,
  body: (server: PostgresServer, store: SqlBlobStore) => Promise<void>,
): Promise<void> {
  const server = await startPostgres(options);
  const store = createSqlBlobStore({ url: server.url });
  try {
    await healed(store);
    await body(server, store);
  } finally {
    await store.close();
    await server.close();
  }
}

/** Resolves when the store works again. */
async function healed(store: BlobStore): Promise<void> {
  const work = () => store.put("healed", Buffer.from("x")).then(() => "healed", String);
  await expect.poll(work, { interval: 20 }).toBe("healed");
  await store.delete("healed");
}

test("calls to a hanging server time out, the server executes none of them later, and the store recovers", async () => {
  await withServer({}, async (server, store) => {
    const { revision } = await store.put("a/b", Buffer.from("old"));
    await store.put("a/kept", Buffer.from("kept"));
    // All connections are open: the calls below are sent.
    await Promise.all(Array.from({ length: 20 }, () => store.stat("a/b")));
    await server.signal("SIGSTOP");
    const calls = [
      () => store.put("a/b", Buffer.from("new")),
      () => store.put("a/b", Buffer.from("new"), { ifRevision: revision }),
      () => store.put("a/new", Buffer.from("new"), { ifRevision: null }),
      () => store.delete("a/kept"),
      () => store.addDue("list", { id: "x", dueMs: 1 }),
      // More than share the statements that are sent.
      ...Array.from({ length: 500 }, () => () => store.get("a/b")),
      () => store.stat("a/b"),
      () => store.list("a/"),
      () => store.list(""),
      () => store.listDue("list", 1, 1),
      () => store.acquireLease("a/b", 1000),
    ];
    await Promise.all(
      calls.map(async (work) => {
        await expect(work(), String(work)).rejects.toMatchObject(UNAVAILABLE);
      }),
    );
    await server.signal("SIGCONT");
    await healed(store);
    // The server has received the late statements by now.
    await expect
      .poll(() => server.sql("SELECT count(*) FROM pg_stat_activity WHERE state = 'active'"))
      .toBe("1");
    expect(await store.stat("a/b")).toEqual({ size: 3, revision });
    expect(await store.stat("a/new")).toBeNull();
    expect(await store.stat("a/kept")).toMatchObject({ size: 4 });
    expect(await store.listDue("list", 1, 1)).toEqual([]);
  });
});

test("a killed server keeps every acknowledged write where synchronous_commit is off, and the store reconnects", async () => {
  // The server itself would flush up to 30 s later.
  const settings = ["synchronous_commit=off", "wal_writer_delay=10s", "wal_writer_flush_after=1GB"];
  await withServer({ settings }, async (server, store) => {
    const acknowledged = new Set<string>();
    const deleted = new Set<string>();
    for (let turn = 0; turn < 3; turn++) {
      let isOver = false;
      const work = Array.from({ length: 6 }, async (_, lane) => {
        for (let at = 0; !isOver; at++) {
          const key = `image-${turn}-${lane}-${at}/record`;
          const done = await store.put(key, Buffer.alloc(at % 4 === 0 ? 10_000 : 100, at)).catch(() => null);
          if (done === null) return;
          acknowledged.add(key);
          if (at % 3 !== 2) continue;
          acknowledged.delete(key);
          if (await store.delete(key).catch(() => false)) deleted.add(key);
        }
      });
      const before = acknowledged.size;
      await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 50);
      await server.kill();
      isOver = true;
      await Promise.all(work);
      await expect(store.stat("a")).rejects.toMatchObject(UNAVAILABLE);
      await server.start();
      await healed(store);
    }
    for (const key of acknowledged) expect(await store.stat(key), key).not.toBeNull();
    for (const key of deleted) expect(await store.stat(key), key).toBeNull();
  });
});

test("the store connects to a server that starts later than the store", async () => {
  const server = await startPostgres();
  await server.kill();
  const store = createSqlBlobStore({ url: server.url });
  try {
    await expect(store.stat("a")).rejects.toMatchObject(UNAVAILABLE);
    await server.start();
    await healed(store);
  } finally {
    await store.close();
    await server.close();
  }
});

test("a statement that waits for a lock is aborted after the time limit, and changes nothing", async () => {
  await withServer({}, async (server, store) => {
    const { revision } = await store.put("a/b", Buffer.from("old"));
    const holder = server.sql("BEGIN; LOCK TABLE images_blobs; SELECT pg_sleep(4); COMMIT");
    await expect
      .poll(() => server.sql("SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted"))
      .not.toBe("0");
    await expect(store.put("a/b", Buffer.from("new"))).rejects.toMatchObject(UNAVAILABLE);
    await holder;
    expect(await store.stat("a/b")).toEqual({ size: 3, revision });
  });
});

test("a store that is closed while the server hangs closes before the server resumes", async () => {
  await withServer({}, async (server) => {
    const store = createSqlBlobStore({ url: server.url });
    await store.stat("a");
    await server.signal("SIGSTOP");
    try {
      const call = expect(store.stat("a")).rejects.toMatchObject(UNAVAILABLE);
      await delay(0);
      await store.close();
      await call;
    } finally {
      await server.signal("SIGCONT");
    }
  });
});
