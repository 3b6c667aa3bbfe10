import { createMemoryBlobStore } from "@outrigger/core";
import { createSqlAccounts, createSqlBlobStore, openDatabase } from "@outrigger/sql";
import { createMetrics, type Metrics } from "@outrigger/telemetry";
import * as client from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { samplesOf } from "../../packages/telemetry/test/metric-samples.ts";
import { pngPhoto } from "../support/pictures.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { addressOf, startSite, upload } from "../support/service.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());

const sample = async (metrics: Metrics, name: string) => samplesOf(await metrics.text()).get(name) ?? 0;
const ended = (metrics: Metrics, kind: string) =>
  sample(metrics, `outrigger_waits_total{for="${kind}",outcome="ok"}`);

test("calls that wait for a pool's only connection are counted while they wait, and their time afterwards", async () => {
  const metrics = createMetrics({ client });
  const database = openDatabase({ url: server.url, maxConnections: 1, timeoutMs: 30_000 });
  const accounts = createSqlAccounts(database);
  try {
    await database.ready();
    database.observeWaits(metrics);
    await accounts.get("absent");
    expect(await ended(metrics, "connection")).toBe(0);
    // Holds the connection until the server goes on.
    await server.signal("SIGSTOP");
    const calls = [1, 2, 3].map(() => accounts.get("absent"));
    const waiting = () => sample(metrics, 'outrigger_waiting{for="connection"}');
    await expect.poll(waiting).toBe(2);
    await server.signal("SIGCONT");
    await Promise.all(calls);
    expect(await waiting()).toBe(0);
    expect(await ended(metrics, "connection")).toBe(2);
    const seconds = await sample(metrics, 'outrigger_wait_duration_seconds_sum{for="connection"}');
    expect(seconds).toBeGreaterThan(0);
  } finally {
    await server.signal("SIGCONT");
    await database.close();
  }
});

test("two nodes report the wait of a reader for the other node's render", async () => {
  const metrics = createMetrics({ client });
  const originals = createMemoryBlobStore();
  const open = () => {
    const store = createSqlBlobStore({ url: server.url, prefix: "leases" });
    return startSite({
      storage: { records: store, originals, renditions: store },
      secret: Buffer.alloc(32, 1),
      observer: metrics,
    });
  };
  const nodes = [await open(), await open()] as const;
  try {
    const { id } = await upload(nodes[0], await pngPhoto(), "image/png");
    const read = (site: (typeof nodes)[0], size: number) =>
      fetch(`${addressOf(site, id, "webp")}?resize=${size}x${size}`).then(async (response) => {
        await response.arrayBuffer();
        return response.status;
      });
    let size = 10;
    // Which node acquires the lease first, and whether the other asks meanwhile, is up to the load of the machine.
    await expect
      .poll(async () => {
        size++;
        expect(await Promise.all(nodes.map((site) => read(site, size)))).toEqual([200, 200]);
        return ended(metrics, "rendition_lease");
      })
      .toBeGreaterThan(0);
  } finally {
    for (const node of nodes) await node.close();
  }
});
