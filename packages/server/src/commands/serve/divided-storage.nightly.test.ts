// Nightly: each test starts a dozen servers and commands; the refusals themselves are tested in core and by `serve.long`.
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RedisServer, startRedis } from "../../../../../test/support/redis-server.ts";
import { type S3Access, useS3Server } from "../../../../../test/support/s3-server.ts";
import { jpeg, outrigger, serve, temporaryDirectory, uploaded } from "../../../test/outrigger-process.ts";

// Each test starts several servers and commands.
const SECRET = "one secret of at least 32 bytes, yes";
const IMAGES = 5;
const REPAIR = ["images", "verify", "--repair", "--yes"];

let redis: RedisServer;
let s3: S3Access;
let bucket: string;

beforeAll(async () => {
  [redis, s3] = await Promise.all([startRedis(), useS3Server()]);
  bucket = await s3.createBucket();
});

afterAll(async () => {
  await Promise.all([redis.close(), s3.stop()]);
});

type Urls = Record<"records" | "originals" | "renditions", string>;

function place(cwd: string, storage: Urls) {
  const { accessKeyId, secretAccessKey } = s3.credentials;
  const env = {
    OUTRIGGER_STORAGE: JSON.stringify(storage),
    OUTRIGGER_SECRET: SECRET,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  return {
    serve: (...args: string[]) => serve(cwd, args, env),
    async run(...args: string[]) {
      const { exit, output } = outrigger(args, { cwd, env });
      return { code: await exit, ...output };
    },
  };
}

/** Starts a server, stores images, and stops it. @returns their IDs. */
async function stocked({ serve: start }: ReturnType<typeof place>): Promise<string[]> {
  const server = start();
  const url = await server.url;
  const ids: string[] = [];
  for (let index = 0; index < IMAGES; index++) ids.push((await uploaded(url, await jpeg())).id);
  server.child.kill("SIGTERM");
  await server.exit;
  return ids;
}

async function statuses(
  { serve: start }: ReturnType<typeof place>,
  ids: readonly string[],
): Promise<number[]> {
  const server = start("--existing");
  const url = await server.url;
  const found = await Promise.all(ids.map(async (id) => (await fetch(`${url}/api/images/${id}.jpg`)).status));
  server.child.kill("SIGTERM");
  await server.exit;
  return found;
}

const repairUpTo = (number: number) => [...REPAIR, "--max-removals", String(number)];

/** @param more Further commands that are refused. */
async function expectRefused(at: ReturnType<typeof place>, why: RegExp, ...more: string[][]): Promise<void> {
  for (const args of [[], ["--existing"]]) {
    const server = at.serve(...args);
    expect(await server.exit).toBe(1);
    expect(server.output.stderr).toMatch(why);
  }
  const commands = [REPAIR, ["images", "sweep"], ["serve", "--check"], ...more];
  for (const command of commands) {
    const { code, stdout, stderr } = await at.run(...command);
    expect([command, code]).toEqual([command, 1]);
    expect(stdout + stderr).toMatch(why);
  }
}

it("records under a mistyped prefix are rejected by the server and by every command that deletes, and no original is lost", async () => {
  const cwd = await temporaryDirectory();
  const files = { originals: "file:./pics", renditions: "file:./pics" };
  const right = place(cwd, { records: `${redis.url}?prefix=a`, ...files });
  const ids = await stocked(right);
  await expectRefused(
    place(cwd, { records: `${redis.url}?prefix=b`, ...files }),
    /no identity/,
    repairUpTo(1000),
  );
  expect(await redis.cli("--raw", "EVAL", "return #redis.call('KEYS', 'b:*')", "0")).toBe("0");
  expect(await statuses(right, ids)).toEqual(ids.map(() => 200));
});

it("an unmounted volume of originals is rejected by the server and by every command that deletes, and nothing is written there", async () => {
  const cwd = await temporaryDirectory();
  const volume = join(cwd, "pics");
  const right = place(cwd, {
    ...{ records: `${redis.url}?prefix=c`, originals: "file:./pics", renditions: "file:./cache" },
  });
  const ids = await stocked(right);
  await rename(volume, `${volume}.away`);
  await mkdir(volume);
  await expectRefused(right, /lacks its mark|is not a data directory/);
  expect(await readdir(volume)).toEqual([]);
  // Another program has made the directory of an empty store.
  await mkdir(join(volume, "blobs"));
  expect((await right.run(...repairUpTo(IMAGES - 1))).code).toBe(1);
  const { code, stderr } = await right.run(...repairUpTo(1000));
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/Nothing was removed: .* no image has its original in file:.*pics\. Mount or name/),
  ]);
  await expectRefused(right, /lacks its mark/);
  await rm(volume, { recursive: true });
  await rename(`${volume}.away`, volume);
  // The cache may be lost at any time.
  await rm(join(cwd, "cache"), { recursive: true });
  expect(await statuses(right, ids)).toEqual(ids.map(() => 200));
  expect(existsSync(join(cwd, "cache", "blobs"))).toBe(true);
});

it("originals under a mistyped prefix of an object storage are rejected, and a volume that goes away stops uploads and readiness", async () => {
  const cwd = await temporaryDirectory();
  const at = (prefix: string) =>
    `s3://${bucket}/${prefix}?endpoint=${encodeURIComponent(s3.endpoint)}&forcePathStyle=true&region=us-east-1`;
  const records = `${redis.url}?prefix=d`;
  const right = place(cwd, { records, originals: at("right"), renditions: at("right") });
  const ids = await stocked(right);
  await expectRefused(
    place(cwd, { records, originals: at("wrong"), renditions: at("right") }),
    /lacks its mark/,
  );
  expect(await statuses(right, ids)).toEqual(ids.map(() => 200));

  const local = place(cwd, {
    records: `${redis.url}?prefix=e`,
    originals: "file:./pics",
    renditions: "file:./cache",
  });
  const server = local.serve();
  const url = await server.url;
  const { id } = await uploaded(url, await jpeg());
  await rename(join(cwd, "pics"), join(cwd, "away"));
  await mkdir(join(cwd, "pics", "blobs"), { recursive: true });
  await writeFile(join(cwd, "pics", "lost+found"), "");
  const ready = async () => {
    const reply = await fetch(`${url}/readyz`);
    return [reply.status, ((await reply.json()) as { checks: object }).checks];
  };
  const working = { records: "ok", originals: "ok", renditions: "ok", renderer: "ok" };
  await expect.poll(ready).toEqual([503, { ...working, originals: "failing" }]);
  await expect(uploaded(url, await jpeg())).rejects.toThrow();
  expect((await fetch(`${url}/api/images/${id}.png?resize=9x9`)).status).toBe(503);
  expect(await readdir(join(cwd, "pics", "blobs"))).toEqual([]);
  await rm(join(cwd, "pics"), { recursive: true });
  await rename(join(cwd, "away"), join(cwd, "pics"));
  await expect.poll(ready).toEqual([200, working]);
  expect((await fetch(`${url}/api/images/${id}.jpg`)).status).toBe(200);
});
