// Nightly: kills a PostgreSQL primary and promotes its standby.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { verifyStorage } from "@outrigger/ops";
import { createSqlBlobStore, createSqlSuppressionList, openDatabase } from "@outrigger/sql";
import { afterEach, expect, test } from "vitest";
import { pngPhoto } from "../support/pictures.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { addressOf, type Created, postImage, startSite } from "../support/service.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

// The runbook "Fail over PostgreSQL" of docs/operating.md, step by step.

type Mode = "asynchronous" | "synchronous";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function beSynchronous(primary: PostgresServer): Promise<void> {
  await primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'");
  await primary.sql("SELECT pg_reload_conf()");
  await expect.poll(() => primary.sql("SELECT sync_state FROM pg_stat_replication")).toBe("quorum");
}

/** A primary and its standby, and a node with its records and the lookup's database at the address of the primary. */
async function startCluster(mode: Mode) {
  const primary = await startPostgres();
  closers.push(() => primary.close());
  const standby = await startPostgres({ standbyOf: primary.port });
  closers.push(() => standby.close());
  if (mode === "synchronous") await beSynchronous(primary);
  const proxy = await startTcpProxy(primary.port);
  closers.push(() => proxy.close());
  const url = `postgres://test@127.0.0.1:${proxy.port}/postgres`;
  const directory = await mkdtemp(join(tmpdir(), "outrigger-failover-"));
  closers.push(() => rm(directory, { recursive: true, force: true }));
  const bytes = createFsBlobStore({ directory });
  const storage = { records: createSqlBlobStore({ url }), originals: bytes, renditions: bytes };
  const site = await startSite({ storage, secret: Buffer.alloc(32, 1) });
  closers.push(() => site.close());
  const database = openDatabase({ url });
  closers.push(() => database.close());
  const list = createSqlSuppressionList(database);
  await site.images.ready();
  await database.ready();
  return { primary, standby, proxy, site, storage, list, photo: await pngPhoto() };
}

type Cluster = Awaited<ReturnType<typeof startCluster>>;

const token = (letter: string) => letter.repeat(43);

/** Uploads an image. @returns `null` for a 503, which has to name the time of the next try. */
async function tryUpload({ site, photo }: Cluster): Promise<Created | null> {
  const reply = await postImage(site, photo, "image/png");
  const body = (await reply.json()) as Created;
  if (reply.status === 201) return body;
  expect(reply.status).toBe(503);
  expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
  return null;
}

const statusOf = ({ site }: Cluster, { id }: Created) =>
  fetch(addressOf(site, id, "png")).then(async (reply) => {
    await reply.arrayBuffer();
    return reply.status;
  });

async function stored(cluster: Cluster): Promise<Created> {
  const image = await tryUpload(cluster);
  if (image === null) throw new Error("The upload got 503");
  return image;
}

async function replayed(primary: PostgresServer, standby: PostgresServer): Promise<void> {
  const lsn = await primary.sql("SELECT pg_current_wal_lsn()");
  await expect
    .poll(() => standby.sql(`SELECT pg_last_wal_replay_lsn() >= '${lsn}'`), { timeout: 10_000 })
    .toBe("t");
}

/** From here on the primary ships nothing to the standby. */
async function stopShipping({ primary, standby }: Cluster): Promise<void> {
  await standby.sql("ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=1'");
  await standby.sql("SELECT pg_reload_conf()");
  await expect
    .poll(() => primary.sql("SELECT count(*) FROM pg_stat_replication"), { timeout: 10_000 })
    .toBe("0");
}

async function uploadsAgain(cluster: Cluster): Promise<void> {
  await expect.poll(async () => (await tryUpload(cluster)) !== null, { timeout: 20_000 }).toBe(true);
}

test("after a fail-over to an asynchronous standby, verify names the originals whose records were not shipped", async () => {
  const cluster = await startCluster("asynchronous");
  const { primary, standby, proxy, storage, list } = cluster;
  const kept = await stored(cluster);
  await list.add([token("a")]);
  await replayed(primary, standby);
  await stopShipping(cluster);
  const lost = [await stored(cluster), await stored(cluster)];
  await list.add([token("b")]);
  const uploads = Array.from({ length: 4 }, () => tryUpload(cluster));
  await primary.kill();
  const acknowledged = (await Promise.all(uploads)).filter((image) => image !== null);
  expect(await tryUpload(cluster)).toBeNull();
  expect(await statusOf(cluster, kept)).toBe(503);
  await expect(list.count()).rejects.toMatchObject({ code: "store_unavailable" });
  // Before its promotion, a standby gives no answer, which could be out of date.
  proxy.leadTo(standby.port);
  expect(await statusOf(cluster, kept)).toBe(503);
  await standby.sql("SELECT pg_promote()");
  await uploadsAgain(cluster);
  expect(await statusOf(cluster, kept)).toBe(200);
  for (const image of [...lost, ...acknowledged]) expect(await statusOf(cluster, image)).toBe(404);
  expect(await list.count()).toBe(1);
  const orphans = new Set<string | null>();
  await verifyStorage({
    storage,
    onFinding: ({ id, what }) => void (what === "orphaned-bytes" && orphans.add(id)),
  });
  for (const { id } of [...lost, ...acknowledged]) expect(orphans).toContain(id);
  expect(orphans).not.toContain(kept.id);
});

test("a fail-over to a synchronous standby loses nothing acknowledged, and uploads that it did not confirm get 503", async () => {
  const cluster = await startCluster("synchronous");
  const { primary, standby, proxy, list } = cluster;
  const kept = await stored(cluster);
  await list.add([token("a")]);
  const uploads = Array.from({ length: 4 }, () => tryUpload(cluster));
  const first = await Promise.race(uploads);
  await stopShipping(cluster);
  const later = Promise.all(uploads);
  expect(await tryUpload(cluster)).toBeNull();
  await expect(list.add([token("b")])).rejects.toMatchObject({ code: "store_unavailable" });
  await primary.kill();
  const acknowledged = (await later).filter((image) => image !== null);
  proxy.leadTo(standby.port);
  await standby.sql("SELECT pg_promote()");
  await uploadsAgain(cluster);
  for (const image of [kept, first, ...acknowledged]) {
    if (image !== null) expect(await statusOf(cluster, image)).toBe(200);
  }
  expect(await list.count()).toBe(1);
});

test("a fail-over to a synchronous standby loses no acknowledged write, and one without it is warned of", async () => {
  const primary = await startPostgres();
  const standby = await startPostgres({ standbyOf: primary.port });
  const [store, promoted] = [primary, standby].map(({ url }) => createSqlBlobStore({ url }));
  if (store === undefined || promoted === undefined) throw new Error("Two were made");
  closers.push(
    () => primary.close(),
    () => standby.close(),
    () => Promise.all([store.close(), promoted.close()]),
  );
  await expect
    .poll(() => store.warnings())
    .toContainEqual(expect.stringContaining("synchronous_standby_names = 'ANY 1 (*)'"));
  await beSynchronous(primary);
  expect((await store.warnings()).join()).not.toContain("synchronous_standby_names");
  const acknowledged = new Map<string, string>();
  let isOver = false;
  const work = Array.from({ length: 6 }, async (_, lane) => {
    for (let at = 0; !isOver; at++) {
      const key = `image-${lane}-${at}/record`;
      const made = await store.put(key, Buffer.from("ready"), { ifRevision: null }).catch(() => null);
      if (made === null) return;
      acknowledged.set(key, made.revision);
      const taken = await store
        .put(key, Buffer.from("withheld"), { ifRevision: made.revision })
        .catch(() => null);
      // Without an acknowledgement, either may be there.
      if (taken === null) return void acknowledged.delete(key);
      acknowledged.set(key, taken.revision);
    }
  });
  await expect.poll(() => acknowledged.size).toBeGreaterThan(200);
  await primary.kill();
  isOver = true;
  await Promise.all(work);
  await standby.sql("SELECT pg_promote()");
  await expect
    .poll(() =>
      promoted.put("again", Buffer.from("x")).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  for (const [key, revision] of acknowledged) {
    expect(await promoted.stat(key), key).toMatchObject({ revision });
  }
});

test("connections to an old primary that was set read-only are replaced after the first refused write", async () => {
  const cluster = await startCluster("asynchronous");
  const { primary, standby, proxy, list } = cluster;
  const kept = await stored(cluster);
  await list.add([token("a")]);
  await primary.sql("ALTER SYSTEM SET default_transaction_read_only = on");
  await primary.sql("SELECT pg_reload_conf()");
  await expect.poll(() => primary.sql("SHOW default_transaction_read_only")).toBe("on");
  await replayed(primary, standby);
  await standby.sql("SELECT pg_promote()");
  proxy.leadTo(standby.port);
  // The old primary runs on, so that the connections to it stay open.
  expect(await tryUpload(cluster)).toBeNull();
  await expect(list.add([token("b")])).rejects.toMatchObject({ code: "store_unavailable" });
  await uploadsAgain(cluster);
  await list.add([token("b")]);
  expect(await list.count()).toBe(2);
  expect(await statusOf(cluster, kept)).toBe(200);
});
