import { createHash } from "node:crypto";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore, createImageAdmin } from "@outrigger/core";
import type { BlobStore } from "@outrigger/core/stores";
import type { BackupReport, RestoreReport } from "@outrigger/ops";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ran, served, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import { pngPhoto } from "./support/pictures.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { type Created, upload } from "./support/service.ts";

type Environment = Record<string, string>;

/** What a service is asked about, with what it has to answer. */
interface Stock {
  kept: Created;
  edited: Created;
  deleted: Created;
  withheld: Created;
}

let redis: RedisServer;

beforeAll(async () => {
  redis = await startRedis({ appendOnly: true });
});

afterAll(async () => {
  await redis?.close();
});

/** Runs the command, which must end well, and gives its JSON. */
async function report<T>(cwd: string, args: readonly string[], env: Environment = {}): Promise<T> {
  const { code, stdout, stderr } = await ran(cwd, [...args, "--json"], env);
  if (code !== 0) throw new Error(`${args.join(" ")}: ${code}\n${stderr}${stdout}`);
  return JSON.parse(stdout) as T; // What the command promises.
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

it("a backup restores into a directory and Redis with PINs and expiries, and leaves the old directory unchanged", async () => {
  const cwd = await temporaryDirectory();
  const toBackup = ["backup", "--to", "file:./backup", "--with-secret"];
  let stock: Stock | undefined;
  let digests = new Map<string, string>();
  await served(cwd, {}, async (base) => {
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
    const list = await ran(cwd, ["images", "ends"]);
    expect(list).toMatchObject({ code: 0, stderr: "" });
    await writeFile(join(cwd, "ends.ndjson"), list.stdout);
    const old = await ran(cwd, ["restore", "--from", "file:./backup"]);
    expect(old).toMatchObject({ code: 0, stdout: expect.stringContaining("0 images restored") });
    await expectServed(base, stock, digests);
  });
  if (stock === undefined) throw new Error("There is no stock");
  const then = stock;
  const secrets = join(cwd, "backup", "secrets");
  expect((await stat(secrets)).mode & 0o777).toBe(0o600);

  const toNew = ["restore", "--from", "file:./backup", "--ends", "ends.ndjson"];
  const fresh = await ran(cwd, [...toNew, "--data", "new"]);
  expect(fresh).toMatchObject({ code: 0, stderr: "" });
  expect(fresh.stdout).toMatch(/^The backup of \S+Z \(\d+ s ago\) has 4 images of file:/);
  expect(fresh.stdout).toContain("3 images restored");
  expect(fresh.stdout).toContain("has the secret of the old service again");
  expect((await stat(join(cwd, "new", "secret"))).mode & 0o777).toBe(0o600);
  const toBase = (base: string) => expectServed(base, then, digests);
  await served(cwd, {}, toBase, ["--data", "new"]);

  const inRedis = { OUTRIGGER_STORAGE: `${redis.url}?timeoutMs=20000`, OUTRIGGER_SECRET_FILE: secrets };
  const moved = await report<RestoreReport>(cwd, toNew, inRedis);
  expect(moved).toMatchObject({ restored: 3, ended: 1, wasLiving: false, isComplete: true });
  await served(cwd, inRedis, toBase);

  const second = await report<BackupReport>(cwd, ["backup", "--to", "file:./second"], inRedis);
  expect(second).toMatchObject({ images: 4, damaged: [], isComplete: true });

  const refused = await ran(cwd, ["serve", "--data", "backup"]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is a backup, which is not served"),
  });
});
