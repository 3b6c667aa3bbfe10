import { randomBytes } from "node:crypto";
import { createImageAdmin } from "@outrigger/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres-server.ts";
import { PARTS, partOf } from "./blob-statements.ts";
import { createSqlBlobStore } from "./sql-blob-store.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

/** The bytes of a record that is ready until 2100. */
function recordOf(id: string, owner: string | null = null): Buffer {
  const times = { createdAt: 1, updatedAt: 1, expiresAt: 4_102_444_800_000 };
  const file = { name: "a", type: "image/png", size: 7, sha256: "00" };
  const state = { gone: null, withheld: null, processing: null, failure: null };
  const record = { v: 1, id, ...file, ...times, ...state, owner: owner && { name: owner, bytes: 7 } };
  return Buffer.from(JSON.stringify(record));
}

test("records of one partition are found and counted page by page, each once, damaged ones included", async () => {
  const store = createSqlBlobStore({ url: server.url, prefix: "pages", timeoutMs: 20_000 });
  const ids: string[] = [];
  while (ids.length < 1100) {
    const id = randomBytes(16).toString("base64url");
    if (partOf(id) === PARTS - 1) ids.push(id);
  }
  await Promise.all(
    ids.map((id, at) => store.put(`${id}/record`, at % 100 === 0 ? Buffer.from("{") : recordOf(id))),
  );
  const admin = createImageAdmin({ storage: store, onError: () => undefined });
  const listed: string[] = [];
  for await (const { id } of admin.list()) listed.push(id);
  expect(listed.sort()).toEqual(ids.sort());
  const damaged: string[] = [];
  for await (const { id } of admin.list({ state: "damaged" })) damaged.push(id);
  expect(damaged).toHaveLength(11);
  expect(await admin.stats()).toMatchObject({
    images: 1100,
    bytes: 1089 * 7,
    states: { ready: 1089, damaged: 11, expired: 0 },
  });
  await admin.close();
});

test("list rejects a filter out of range with a TypeError", async () => {
  const admin = createImageAdmin({ storage: createSqlBlobStore({ url: server.url, prefix: "filters" }) });
  for (const filter of [
    { state: "gone" as "ready" },
    { owner: 5 as unknown as string },
    { createdFrom: -1 },
    { createdBefore: 1.5 },
  ]) {
    await expect(admin.list(filter).next(), JSON.stringify(filter)).rejects.toThrow(TypeError);
  }
  await admin.close();
});

test("the images of an owner, and records without facts, are found by an index", async () => {
  const store = createSqlBlobStore({ url: server.url, prefix: "owned", timeoutMs: 20_000 });
  const id = randomBytes(16).toString("base64url");
  await store.put(`${id}/record`, recordOf(id, "alice"));
  const plan = async (condition: string) =>
    (
      await server.sql(
        `SET enable_seqscan = off; EXPLAIN (COSTS OFF)
        SELECT key, bytes FROM owned_blobs WHERE part = 3::smallint AND ${condition} ORDER BY key LIMIT 10`,
      )
    ).split("\n");
  const owned = await plan("key > 'a' AND state IS NOT NULL AND owner = 'alice'");
  expect(owned.join("\n")).toMatch(/^Limit\n +-> +Index Scan using owned_blobs_3_part_owner_key_idx/);
  const unknown = await plan("state IS NULL AND key LIKE '%/record' AND key > 'a'");
  expect(unknown.join("\n")).toMatch(/Index Scan using owned_blobs_3_part_key_idx/);
  await store.close();
});
