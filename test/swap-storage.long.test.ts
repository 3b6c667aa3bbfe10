import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { jpegPhoto } from "./support/pictures.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { type Created, postImage } from "./support/service.ts";

const SERVER = fileURLToPath(new URL("../examples/swap-storage/server.js", import.meta.url));
const OUTRIGGER = fileURLToPath(new URL("../packages/server/bin/outrigger.js", import.meta.url));

const children = new Set<ChildProcess>();
let directory: string | null = null;
let redis: RedisServer | null = null;

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  await redis?.close();
  if (directory !== null) await rm(directory, { recursive: true, force: true });
});

function run(cwd: string, args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH ?? "", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  return child;
}

/** Runs the app for as long as `work` takes. */
async function withApp<T>(
  cwd: string,
  env: Record<string, string>,
  work: (base: string) => Promise<T>,
): Promise<T> {
  const child = run(cwd, [SERVER], env);
  const base = await addressOf(child);
  const done = await work(base);
  child.kill("SIGTERM");
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  return done;
}

async function addressOf(child: ChildProcess): Promise<string> {
  for await (const text of child.stdout ?? []) {
    const address = /http:\S+/.exec(String(text))?.[0];
    if (address !== undefined) return address;
  }
  throw new Error("The app ended before it listened");
}

/** Uploads a picture and waits until it is there: a busy machine may answer with 202. */
async function uploaded(base: string, picture: Buffer): Promise<Created> {
  const response = await postImage({ base }, picture, "image/jpeg");
  expect([201, 202]).toContain(response.status);
  const created = (await response.json()) as Created;
  const deadline = Date.now() + 60_000;
  for (let { status } = created; status !== "ready"; ) {
    if (Date.now() > deadline) throw new Error(`The upload is still ${status}`);
    await delay(100);
    const record = await fetch(`${base}/api/images/${created.id}.json`);
    ({ status } = (await record.json()) as Created);
  }
  return created;
}

async function migrate(cwd: string, to: string): Promise<void> {
  const args = ["migrate", "--from", "file:./pictures", "--to", to, "--secret-file", "secret", "--quiet"];
  const child = run(cwd, [OUTRIGGER, ...args]);
  child.stdout?.resume();
  const [code] = await once(child, "close");
  expect(code).toBe(0);
}

it("the app of examples/swap-storage moves from a disk to Redis: same addresses, same PINs", async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-swap-"));
  redis = await startRedis({ appendOnly: true });
  const cwd = directory;
  const { url } = redis;
  const picture = await jpegPhoto(120, 80);
  const [early, late] = await withApp(cwd, {}, async (base) => {
    const first = await uploaded(base, picture);
    await migrate(cwd, url);
    return [first, await uploaded(base, picture)];
  });
  await migrate(cwd, url);
  await rm(join(cwd, "pictures"), { recursive: true });

  await withApp(cwd, { STORAGE: url, SECRET_FILE: "secret" }, async (base) => {
    for (const { id, pin } of [early, late]) {
      const shown = await fetch(`${base}/${id}`);
      expect(Buffer.from(await shown.arrayBuffer()).equals(picture)).toBe(true);
      const edited = await fetch(`${base}/api/images/${id}.json`, {
        method: "PATCH",
        body: JSON.stringify({ name: "moved" }),
        headers: { "Content-Type": "application/json", "X-Service-Image-Pin": pin },
      });
      expect([edited.status, await edited.json()]).toEqual([200, expect.objectContaining({ name: "moved" })]);
    }
  });
}, 120_000);

it("the app of examples/swap-storage takes a store for each role", async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-swap-"));
  redis = await startRedis({ appendOnly: true });
  const STORAGE = JSON.stringify({
    records: redis.url,
    originals: "file:./files",
    renditions: "file:./files",
  });
  const cwd = directory;
  await writeFile(join(cwd, "secret"), `base64:${randomBytes(32).toString("base64")}\n`);
  const { id } = await withApp(cwd, { STORAGE, SECRET_FILE: "secret" }, async (base) => {
    const created = await uploaded(base, await jpegPhoto(120, 80));
    expect((await fetch(`${base}/api/images/${created.id}.png`)).status).toBe(200);
    return created;
  });
  await withApp(cwd, { STORAGE, SECRET_FILE: "secret" }, async (base) => {
    expect((await fetch(`${base}/${id}`)).status).toBe(200);
  });
}, 120_000);
