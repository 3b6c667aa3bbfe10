import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLookup, createMemoryContactSource } from "@outrigger/core";
import {
  createSqlAccounts,
  createSqlSuppressionList,
  createSqlVerificationQueue,
  openDatabase,
} from "@outrigger/sql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startReceiver, webhooksTo } from "../../packages/core/test/event-site.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { type StartedProcess, startProcess } from "../support/start-process.ts";

const HOST = new URL("../support/bulk-host.mjs", import.meta.url);
const LISTS = 20;

let directory: string;
let postgres: PostgresServer;
const processes = new Set<StartedProcess>();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-ends-"));
  postgres = await startPostgres();
});

afterAll(async () => {
  for (const each of processes) await each.kill();
  await postgres.close();
  await rm(directory, { recursive: true, force: true });
});

/** Adds lists that need no mail server. */
async function addLists(url: string): Promise<string[]> {
  const database = openDatabase({ url, timeoutMs: 20_000 });
  const lookup = createLookup({
    contacts: createMemoryContactSource({ contacts: [], organizations: {} }),
    accounts: createSqlAccounts(database),
    suppressions: createSqlSuppressionList(database),
    verifications: createSqlVerificationQueue(database),
    secret: "0123456789abcdef0123456789abcdef",
    verifyAtOnce: 0,
  });
  const ids: string[] = [];
  for (let n = 0; n < LISTS; n++) ids.push((await lookup.verifyEmails(["no address", "@"])).id);
  await lookup.close();
  await database.close();
  return ids.sort();
}

test.for([
  ["an embedded database", async () => `file:${join(directory, "lookup.db")}`],
  ["PostgreSQL", () => postgres.createDatabase("ends")],
] as const)(
  "every list in %s is announced after SIGKILL of the process that delivered",
  async ([, createUrl]) => {
    const url = await createUrl();
    const ids = await addLists(url);
    // A receiver that never answers the process that is killed.
    const receiver = await startReceiver(() => {});
    const webhooks = JSON.stringify(webhooksTo(receiver));
    const start = async () => {
      const started = await startProcess([HOST, url, "127.0.0.1:9", "9", "50", webhooks]);
      processes.add(started);
      return started;
    };
    const first = await start();
    await expect.poll(() => receiver.events.length, { interval: 5 }).toBeGreaterThan(0);
    await first.kill();
    const lost = receiver.events.splice(0);
    receiver.answer = (response) => response.writeHead(204).end();
    const others = [await start(), await start()];
    // At least once: a slow delivery may be repeated by the other process.
    const announced = () => new Set(receiver.events.map(({ data }) => Object(data.list).id as string));
    await expect.poll(() => [...announced()].sort(), { timeout: 110_000 }).toEqual(ids);
    const again = receiver.events.map(({ id }) => id);
    expect(lost.every(({ id }) => again.includes(id))).toBe(true);
    for (const each of others) await each.kill();
  },
);
