import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { createRedisBlobStore } from "@outrigger/redis";
import { describe, expect, it } from "vitest";
import { outrigger, serve, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import {
  bytesOf,
  expectSame,
  keysOf,
  migrated,
  migration,
  opened,
  redis,
  report,
  secretOf,
  signalAfter,
} from "./support/migration.ts";
import { startRedisCluster } from "./support/redis-server.ts";
import { stockDirectory } from "./support/stocked-directory.ts";

/** One key at a time, so the writes have a known order. */
const SLOWLY = ["--quiet", "--concurrency", "1"];

describe("a killed migration", () => {
  it("after SIGKILL no record lacks its bytes, no server starts on the target, and a second run resumes", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 250, 20_000);
    const server = await redis();
    const to = opened(createRedisBlobStore({ url: server.url }));
    let before = 0;
    let records: string[] = [];
    for (const writes of [400, 900, 1600]) {
      const { exit } = migration(cwd, server.url, SLOWLY, signalAfter("SIGKILL", writes));
      expect(await exit).toBe("SIGKILL");
      const arrived = await keysOf(to);
      expect(arrived.length).toBeGreaterThan(before);
      before = arrived.length;
      records = arrived.filter((key) => key.endsWith("/record"));
      expect(records.filter((key) => !arrived.includes(key.replace("/record", "/original")))).toEqual([]);
    }
    expect(records.length).toBeGreaterThan(0);
    expect(before).toBeLessThan(500);
    const env = { ...(await secretOf(cwd)), OUTRIGGER_STORAGE: server.url };
    for (const args of [["serve"], ["images", "list"]]) {
      const refused = outrigger(args, { cwd, env });
      expect(await refused.exit).toBe(1);
      expect(refused.output.stderr).toContain("has only some of the images: their migration from file:");
    }
    const { copied, unchanged, keys } = await report(cwd, server.url);
    expect([copied, unchanged, keys]).toEqual([500 - before, before, { from: 500, to: 500 }]);
    await expectSame(opened(createFsBlobStore({ directory: join(cwd, "data") })), to);
    await serve(cwd, [], env).url;
  }, 240_000);

  it("after SIGINT the migration finishes the current writes and exits with 130, and a second run resumes", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 250, 20_000);
    const server = await redis();
    const { exit, output } = migration(cwd, server.url, SLOWLY, signalAfter("SIGINT", 300));
    expect(await exit).toBe(130);
    expect(output.stderr).toContain("Stopped. Run the same command again to resume\n");
    expect(output.stderr).not.toContain("   at ");
    const { copied, unchanged } = await report(cwd, server.url);
    expect(copied + unchanged).toBe(500);
    expect(unchanged).toBeGreaterThan(20);
  }, 120_000);
});

describe("a second migration", () => {
  it("a second migration copies changed images and removes deleted ones", async () => {
    const cwd = await temporaryDirectory();
    const [deleted, renamed] = await stockDirectory(join(cwd, "data"), 20, 1000);
    const server = await redis();
    expect(await report(cwd, server.url)).toMatchObject({ copied: 40, isComplete: true });
    const from = opened(createFsBlobStore({ directory: join(cwd, "data") }));
    for (const part of ["record", "original"]) await from.delete(`${deleted}/${part}`);
    const record = JSON.parse((await bytesOf(from, `${renamed}/record`)).toString());
    await from.put(`${renamed}/record`, Buffer.from(JSON.stringify({ ...record, name: "renamed" })));
    await stockDirectory(join(cwd, "data"), 1, 1000);
    expect(await report(cwd, server.url)).toMatchObject({
      copied: 3,
      unchanged: 37,
      removed: 2,
      isComplete: true,
    });
    await expectSame(from, opened(createRedisBlobStore({ url: server.url })));
  });

  it("a second migration refuses a target that a server has changed since", async () => {
    const cwd = await temporaryDirectory();
    const [id] = await stockDirectory(join(cwd, "data"), 3, 1000);
    const server = await redis();
    await report(cwd, server.url);
    const env = { ...(await secretOf(cwd)), OUTRIGGER_STORAGE: server.url };
    const running = serve(cwd, [], env);
    await running.url;
    const removal = outrigger(["images", "rm", "--yes", id ?? ""], { cwd, env });
    expect(await removal.exit).toBe(0);
    const { code, stderr } = await migrated(cwd, server.url);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("the target is not empty") });
    expect((await fetch(`${await running.url}/${id}`)).status).toBe(410);
  });
});

describe("a migration to and from a Redis cluster", () => {
  it("a migration into a Redis cluster and back copies every key", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 60, 1000);
    const cluster = await startRedisCluster();
    try {
      const url = cluster.urls.join(",");
      expect(await report(cwd, url)).toMatchObject({ copied: 120, isComplete: true });
      const back = outrigger(["migrate", "--from", url, "--to", "file:./back", "--json"], { cwd });
      expect(await back.exit).toBe(0);
      expect(JSON.parse(back.output.stdout)).toMatchObject({ copied: 120, isComplete: true });
      const [from, to] = ["data", "back"].map((name) => {
        return opened(createFsBlobStore({ directory: join(cwd, name) }));
      });
      if (from !== undefined && to !== undefined) await expectSame(from, to);
    } finally {
      await cluster.close();
    }
  }, 120_000);
});
