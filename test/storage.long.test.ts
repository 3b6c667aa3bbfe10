import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  jpeg,
  ran,
  serve,
  temporaryDirectory,
  upload,
  uploaded,
} from "../packages/server/test/outrigger-process.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";

// Each starts the command several times.
const SECRET = { OUTRIGGER_SECRET: "the same for all processes, 32 bytes" };

const servers = new Set<{ close(): Promise<void> }>();

afterEach(async () => {
  for (const server of servers) await server.close();
  servers.clear();
});

async function redis(): Promise<RedisServer> {
  const server = await startRedis();
  servers.add(server);
  return server;
}

/** Requests /readyz until it answers `status`. */
async function readyzAnswers(base: string, status: number): Promise<void> {
  await expect.poll(() => statusOf(base, "readyz")).toBe(status);
}

async function statusOf(base: string, id: string): Promise<number> {
  const response = await fetch(`${base}/${id}`);
  await response.arrayBuffer();
  return response.status;
}

describe("outrigger with everything in Redis", () => {
  it("all processes share the rate limits", async () => {
    const server = await redis();
    const env = { ...SECRET, OUTRIGGER_STORAGE: `${server.url}?prefix=counted` };
    const cwd = await temporaryDirectory();
    const config = { images: { rateLimits: { creates: 2 } } };
    await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(config));
    const [one, other] = [serve(cwd, [], env), serve(cwd, [], env)];
    const picture = await jpeg();
    await uploaded(await one.url, picture);
    await uploaded(await other.url, picture);
    expect((await upload(await one.url, picture)).status).toBe(429);
    expect((await upload(await other.url, picture)).status).toBe(429);
  });
});

describe("outrigger with a store for each role", () => {
  it("records are in Redis, originals in a directory beside the configuration file, renditions in memory", async () => {
    const server = await redis();
    const cwd = await temporaryDirectory();
    const storage = { records: server.url, originals: "file:./originals", renditions: "memory:" };
    await mkdir(join(cwd, "etc"));
    await writeFile(join(cwd, "etc", "some.json"), JSON.stringify({ storage }));
    const file = ["--config", "etc/some.json"];
    const running = serve(cwd, file, SECRET);
    const { id } = await uploaded(await running.url, await jpeg());
    expect(await statusOf(await running.url, `api/images/${id}.png`)).toBe(200);
    const ready = await (await fetch(`${await running.url}/readyz`)).json();
    expect(ready).toMatchObject({
      checks: { records: "ok", originals: "ok", renditions: "ok", renderer: "ok" },
    });
    const { code, stdout } = await ran(cwd, ["serve", "--check", ...file], SECRET);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(join(cwd, "etc", "originals")),
    });
    expect((await ran(cwd, ["images", "rm", "--yes", ...file, id], {})).code).toBe(0);
    expect(await statusOf(await running.url, id)).toBe(410);
    server.signal("SIGSTOP");
    await readyzAnswers(await running.url, 503);
    await running.logged('"part":"records"');
    expect(running.output.stderr).not.toContain('"part":"originals"');
    server.signal("SIGCONT");
  });

  it("serve with memory: needs no secret and warns that images are lost at exit", async () => {
    const cwd = await temporaryDirectory();
    const running = serve(cwd, [], { OUTRIGGER_STORAGE: "memory:" });
    const { id } = await uploaded(await running.url, await jpeg());
    expect(await statusOf(await running.url, id)).toBe(200);
    await running.logged("are lost when the process ends");
    const { code, stderr } = await ran(cwd, ["images", "list"], { OUTRIGGER_STORAGE: "memory:" });
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("in the memory of") });
  });
});

describe("outrigger with unusable storage", () => {
  it("an unreachable Redis exits with 1 and prints no password", async () => {
    const env = { ...SECRET, OUTRIGGER_STORAGE: "redis://user:hush@127.0.0.1:1" };
    const cwd = await temporaryDirectory();
    const { code, stdout, stderr } = await ran(cwd, ["serve"], env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^outrigger: The storage redis:\/\/127\.0\.0\.1:1 cannot be used: .*cannot be reached.*ECONNREFUSED.*\n$/,
    );
    const listed = await ran(cwd, ["images", "list"], env);
    expect(listed).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be reached") });
    const examined = await ran(cwd, ["serve", "--check"], env);
    expect(examined.code).toBe(1);
    expect(examined.stdout).toMatch(/problem {2}storage: redis:\/\/127\.0\.0\.1:1 cannot be used: .*reached/);
    expect(stderr + listed.stderr + examined.stdout + examined.stderr).not.toContain("hush");
  });
});
