import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  jpeg,
  outrigger,
  serve,
  temporaryDirectory,
  upload,
} from "../packages/server/test/outrigger-process.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { withoutPackage } from "./support/without-package.ts";

const SECRET = { OUTRIGGER_SECRET: "the same for all processes, 32 bytes" };

describe("outrigger with a job queue", () => {
  let redis: RedisServer | null = null;

  afterEach(async () => {
    await redis?.close();
    redis = null;
  });

  /** A server that only accepts, and its URL. */
  async function startFront(env: Record<string, string>) {
    const cwd = await temporaryDirectory();
    const config = { images: { asyncAfterMs: 0, processUploads: false } };
    await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(config));
    const front = serve(cwd, [], env);
    return { front, base: await front.url };
  }

  it("an upload to one server is processed by another at once", async () => {
    redis = await startRedis();
    const env = { ...SECRET, OUTRIGGER_STORAGE: redis.url, OUTRIGGER_JOB_QUEUE: `${redis.url}?prefix=jobs` };
    const { base } = await startFront(env);
    const back = serve(await temporaryDirectory(), [], env);
    await back.url;
    const began = performance.now();
    const ids: string[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const response = await upload(base, await jpeg());
      expect(response.status).toBe(202);
      ids.push(((await response.json()) as { id: string }).id);
    }
    for (const id of ids) {
      let status = 202;
      while (status === 202) status = (await fetch(`${base}/api/images/${id}.json`)).status;
      expect(status).toBe(200);
      expect((await fetch(`${base}/api/images/${id}.jpg`)).status).toBe(200);
    }
    // Without the queue a process would find the upload after 30 s only.
    expect(performance.now() - began).toBeLessThan(15_000);
    back.child.kill("SIGTERM");
    expect(await back.exit).toBe(0);
  });

  it("uploads during an outage of the queue are accepted and processed without it", {
    timeout: 90_000,
  }, async () => {
    redis = await startRedis();
    const gone = await startRedis();
    const env = { ...SECRET, OUTRIGGER_STORAGE: redis.url, OUTRIGGER_JOB_QUEUE: gone.url };
    const { base } = await startFront(env);
    await gone.close();
    const response = await upload(base, await jpeg());
    expect(response.status).toBe(202);
    const { id } = (await response.json()) as { id: string };
    const back = serve(await temporaryDirectory(), [], env);
    await back.url;
    let status = 202;
    while (status === 202) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      status = (await fetch(`${base}/api/images/${id}.json`)).status;
    }
    expect(status).toBe(200);
    back.child.kill("SIGTERM");
    expect(await back.exit).toBe(0);
  });

  it("the server warns if its uploads never reach a queue consumer", async () => {
    redis = await startRedis();
    const { front } = await startFront({ ...SECRET, OUTRIGGER_STORAGE: redis.url });
    await front.logged("set jobQueue");
  });

  it("the server does not start with an invalid queue address and does not print it", async () => {
    const cwd = await temporaryDirectory();
    const { exit, output } = outrigger(["serve"], { cwd, env: { OUTRIGGER_JOB_QUEUE: "http://u:hush@x" } });
    expect(await exit).toBe(2);
    expect(output.stderr).toContain("OUTRIGGER_JOB_QUEUE: must be redis://");
    expect(output.stderr).not.toContain("hush");
  });

  it.each([
    ["bullmq", "bullmq@6"],
    ["ioredis", "ioredis@5"],
  ])("the server names the package to install if %s is missing", async (name, wanted) => {
    const cwd = await temporaryDirectory();
    const env = { OUTRIGGER_JOB_QUEUE: "redis://127.0.0.1:1", ...(await withoutPackage(cwd, name)) };
    const { exit, output } = outrigger(["serve"], { cwd, env });
    expect(await exit).toBe(1);
    expect(output.stderr).toBe(
      `outrigger: A job queue needs packages that are not installed. Install them: npm install ${wanted}\n`,
    );
  });
});
