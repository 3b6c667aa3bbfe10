import { createHash } from "node:crypto";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore, createImageAdmin } from "@outrigger/core";
import type { BlobStore } from "@outrigger/core/stores";
import type { BackupReport, RestoreReport } from "@outrigger/ops";
import { createRedisBlobStore } from "@outrigger/redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { outrigger, serve, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import { pngPhoto } from "./support/pictures.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { type S3Access, useS3Server } from "./support/s3-server.ts";
import { type Created, upload } from "./support/service.ts";

type Environment = Record<string, string>;

/** What a service is asked about, with what it has to answer. */
interface Stock {
  kept: Created;
  edited: Created;
  deleted: Created;
  withheld: Created;
}

const SECRET = { OUTRIGGER_SECRET: "the secret of the old service, 32 bytes" };
let redis: RedisServer;
let s3: S3Access;
let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres();
  redis = await startRedis({ appendOnly: true });
  s3 = await useS3Server();
});

afterAll(async () => {
  await redis?.close();
  await s3?.stop();
  await postgres?.close();
});

/** Runs the command to its end. */
async function run(cwd: string, args: readonly string[], env: Environment = {}) {
  const { exit, output } = outrigger(args, { cwd, env });
  return { code: await exit, ...output };
}

/** Runs the command, which must end well, and gives its JSON. */
async function report<T>(cwd: string, args: readonly string[], env: Environment = {}): Promise<T> {
  const { code, stdout, stderr } = await run(cwd, [...args, "--json"], env);
  if (code !== 0) throw new Error(`${args.join(" ")}: ${code}\n${stderr}${stdout}`);
  return JSON.parse(stdout) as T; // What the command promises.
}

/** Runs a server for as long as `work` takes. */
async function served(
  cwd: string,
  env: Environment,
  args: readonly string[],
  work: (base: string) => Promise<void>,
): Promise<void> {
  const { url, child, exit } = serve(cwd, args, env);
  await work(await url);
  child.kill("SIGTERM");
  expect(await exit).toBe(0);
}

async function stocked(base: string): Promise<Stock> {
  const add = async (width: number) => upload({ base }, await pngPhoto(width, 20), "image/png");
  return { kept: await add(30), edited: await add(31), deleted: await add(32), withheld: await add(33) };
}

function edit(base: string, { id, pin }: Created, name: string): Promise<Response> {
  const headers = { "Content-Type": "application/json", "X-Service-Image-Pin": pin };
  return fetch(`${base}/api/images/${id}.json`, { method: "PATCH", headers, body: JSON.stringify({ name }) });
}

/** What happens to the stock after the backup. */
async function end(store: BlobStore, base: string, { deleted, withheld }: Stock): Promise<void> {
  const headers = { "X-Service-Image-Pin": deleted.pin };
  const answer = await fetch(`${base}/api/images/${deleted.id}.json`, { method: "DELETE", headers });
  expect(answer.status).toBeLessThan(300);
  const admin = createImageAdmin({ storage: store });
  await admin.withhold(withheld.id, { reason: "Case 1" });
  await admin.close();
}

/** Every picture by its digest, what has ended as ended, and PINs. */
async function expectServed(base: string, stock: Stock, digests: Map<string, string>): Promise<void> {
  for (const image of [stock.kept, stock.edited]) {
    expect(await digestAt(base, image)).toBe(digests.get(image.id));
    expect((await edit(base, image, "by its PIN")).status).toBe(200);
  }
  expect((await edit(base, stock.kept, "x")).status).toBe(200);
  expect((await edit(base, { ...stock.kept, pin: stock.edited.pin }, "x")).status).toBe(403);
  expect((await fetch(`${base}/${stock.deleted.id}`)).status).toBe(410);
  expect((await fetch(`${base}/${stock.withheld.id}`)).status).toBe(451);
}

async function digestAt(base: string, { id }: Created): Promise<string> {
  const response = await fetch(`${base}/api/images/${id}.png`);
  expect(response.status).toBe(200);
  return createHash("sha256")
    .update(Buffer.from(await response.arrayBuffer()))
    .digest("hex");
}

async function digestsOf(base: string, stock: Stock): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const image of Object.values(stock) as Created[]) digests.set(image.id, await digestAt(base, image));
  return digests;
}

describe("backup of a directory to a directory", () => {
  it("a backup restores into a directory, Redis and PostgreSQL with PINs and expiries, and leaves the old directory unchanged", async () => {
    const cwd = await temporaryDirectory();
    const toBackup = ["backup", "--to", "file:./backup", "--with-secret"];
    let stock: Stock | undefined;
    let digests = new Map<string, string>();
    await served(cwd, {}, [], async (base) => {
      stock = await stocked(base);
      digests = await digestsOf(base, stock);
      expect(await report<BackupReport>(cwd, toBackup)).toMatchObject({
        images: 4,
        // The record, the original, and the entry in the index of copies of each.
        copied: 12,
        isComplete: true,
      });
      await edit(base, stock.edited, "changed");
      expect(await report<BackupReport>(cwd, toBackup)).toMatchObject({
        copied: 1,
        unchanged: 11,
        removed: 0,
      });
      await end(createFsBlobStore({ directory: join(cwd, "data") }), base, stock);
      const list = await run(cwd, ["images", "ends"]);
      expect(list).toMatchObject({ code: 0, stderr: "" });
      await writeFile(join(cwd, "ends.ndjson"), list.stdout);
      const old = await run(cwd, ["restore", "--from", "file:./backup"]);
      expect(old).toMatchObject({ code: 0, stdout: expect.stringContaining("0 images restored") });
      await expectServed(base, stock, digests);
    });
    if (stock === undefined) throw new Error("There is no stock");
    const then = stock;
    const secrets = join(cwd, "backup", "secrets");
    expect((await stat(secrets)).mode & 0o777).toBe(0o600);

    const toNew = ["restore", "--from", "file:./backup", "--ends", "ends.ndjson"];
    const fresh = await run(cwd, [...toNew, "--data", "new"]);
    expect(fresh).toMatchObject({ code: 0, stderr: "" });
    expect(fresh.stdout).toMatch(/^The backup of \S+Z \(\d+ s ago\) has 4 images of file:/);
    expect(fresh.stdout).toContain("3 images restored");
    expect(fresh.stdout).toContain("has the secret of the old service again");
    expect((await stat(join(cwd, "new", "secret"))).mode & 0o777).toBe(0o600);
    await served(cwd, {}, ["--data", "new"], (base) => expectServed(base, then, digests));

    const inRedis = { OUTRIGGER_STORAGE: redis.url, OUTRIGGER_SECRET_FILE: secrets };
    const moved = await report<RestoreReport>(cwd, toNew, inRedis);
    expect(moved).toMatchObject({ restored: 3, ended: 1, wasLiving: false, isComplete: true });
    await served(cwd, inRedis, [], (base) => expectServed(base, then, digests));

    const roles = { records: postgres.url, originals: "file:./pictures", renditions: "file:./pictures" };
    const inPostgres = { OUTRIGGER_STORAGE: JSON.stringify(roles), OUTRIGGER_SECRET_FILE: secrets };
    const again = await report<RestoreReport>(cwd, toNew, inPostgres);
    expect(again).toMatchObject({ restored: 3, ended: 1, wasLiving: false, isComplete: true });
    await served(cwd, inPostgres, [], (base) => expectServed(base, then, digests));
    const second = await report<BackupReport>(cwd, ["backup", "--to", "file:./second"], inPostgres);
    expect(second).toMatchObject({ images: 4, damaged: [], isComplete: true });
    const listed = await run(cwd, ["images", "list", "--json"], inPostgres);
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    for (const { id } of [then.kept, then.edited, then.withheld]) expect(listed.stdout).toContain(id);

    const refused = await run(cwd, ["serve", "--data", "backup"]);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is a backup, which is not served"),
    });
  });
});

describe("backup of Redis to S3", () => {
  it("a backup without a secret restores into an empty Redis with the original secret only", async () => {
    const cwd = await temporaryDirectory();
    await redis.cli("FLUSHALL");
    const bucket = await s3.createBucket();
    const aws = {
      AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    };
    const place = `s3://${bucket}/backup?endpoint=${s3.endpoint}&timeoutMs=10000`;
    const env = { ...aws, ...SECRET, OUTRIGGER_STORAGE: redis.url };
    let stock: Stock | undefined;
    let digests = new Map<string, string>();
    await served(cwd, env, [], async (base) => {
      stock = await stocked(base);
      digests = await digestsOf(base, stock);
      await end(createRedisBlobStore({ url: redis.url }), base, stock);
      const first = await report<BackupReport>(cwd, ["backup", "--to", place], env);
      // Records, and of the three that live the original and the entry of copies; the mark of the withheld one.
      expect(first).toMatchObject({ images: 4, copied: 11, isComplete: true });
      expect(first.manifest.secrets).toHaveLength(1);
      expect(JSON.stringify(first)).not.toContain(SECRET.OUTRIGGER_SECRET);
      const again = await report<BackupReport>(cwd, ["backup", "--to", place, "--verify"], env);
      expect(again).toMatchObject({ copied: 0, bytes: 0, unchanged: 11, isComplete: true });
    });
    if (stock === undefined) throw new Error("There is no stock");
    const then = stock;

    await redis.cli("FLUSHALL");
    const other = { ...env, OUTRIGGER_SECRET: "another secret of more than thirty-two bytes" };
    const refused = await run(cwd, ["restore", "--from", place], other);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("give the secret of the old service"),
    });
    expect(await redis.cli("DBSIZE")).toBe("0");
    const restored = await report<RestoreReport>(cwd, ["restore", "--from", place], env);
    expect(restored).toMatchObject({
      restored: 3,
      ended: 1,
      wasLiving: false,
      damaged: [],
      isComplete: true,
    });
    await served(cwd, env, [], (base) => expectServed(base, then, digests));
  });
});
