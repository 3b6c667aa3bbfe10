import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { createRedisBlobStore } from "@outrigger/redis";
import { describe, expect, it } from "vitest";
import { outrigger, serve, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import {
  expectSame,
  keysOf,
  migration,
  opened,
  redis,
  report,
  secretOf,
  signalAfter,
} from "./support/migration.ts";
import { stockDirectory } from "./support/stocked-directory.ts";

/** One key at a time, so the writes have a known order. */
const SLOWLY = ["--concurrency", "1"];

describe("a killed migration", () => {
  it("after SIGKILL no record lacks its bytes, no server starts on the target, and a second run resumes", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 150, 20_000);
    const server = await redis();
    const to = opened(createRedisBlobStore({ url: server.url }));
    const url = `${server.url}?timeoutMs=20000`;
    let before = 0;
    let records: string[] = [];
    for (const writes of [240, 540, 960]) {
      const { exit } = migration(cwd, url, SLOWLY, signalAfter("SIGKILL", writes));
      expect(await exit).toBe("SIGKILL");
      const arrived = await keysOf(to);
      expect(arrived.length).toBeGreaterThan(before);
      before = arrived.length;
      records = arrived.filter((key) => key.endsWith("/record"));
      expect(records.filter((key) => !arrived.includes(key.replace("/record", "/original")))).toEqual([]);
    }
    expect(records.length).toBeGreaterThan(0);
    expect(before).toBeLessThan(300);
    const env = { ...(await secretOf(cwd)), OUTRIGGER_STORAGE: url };
    for (const args of [["serve"], ["images", "list"]]) {
      const refused = outrigger(args, { cwd, env });
      expect(await refused.exit).toBe(1);
      expect(refused.output.stderr).toContain("has only some of the images: their migration from file:");
    }
    const { copied, unchanged, keys } = await report(cwd, url);
    expect([copied, unchanged, keys]).toEqual([300 - before, before, { from: 300, to: 300 }]);
    await expectSame(opened(createFsBlobStore({ directory: join(cwd, "data") })), to);
    await serve(cwd, [], env).url;
  });
});
