import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { outrigger } from "../packages/server/test/outrigger-process.ts";
import { jpegPhoto } from "./support/pictures.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { upload } from "./support/service.ts";
import { startProcess } from "./support/start-process.ts";

const SERVER = new URL("../examples/swap-storage/server.js", import.meta.url);

let directory: string | null = null;
let redis: RedisServer | null = null;

afterEach(async () => {
  await redis?.close();
  if (directory !== null) await rm(directory, { recursive: true, force: true });
});

/** Runs the app for as long as `work` takes. */
async function withApp<T>(
  cwd: string,
  env: Record<string, string>,
  work: (base: string) => Promise<T>,
): Promise<T> {
  const app = await startProcess([SERVER], { cwd, env: { PORT: "0", ...env } });
  try {
    const done = await work(app.announced);
    app.child.kill("SIGTERM");
    expect(await app.exit).toBe(0);
    return done;
  } finally {
    await app.kill();
  }
}

async function migrate(cwd: string, to: string): Promise<void> {
  const args = ["migrate", "--from", "file:./pictures", "--to", to, "--secret-file", "secret"];
  expect(await outrigger(args, { cwd }).exit).toBe(0);
}

it("the app of examples/swap-storage moves from disk to Redis and keeps addresses and PINs", async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-swap-"));
  redis = await startRedis({ appendOnly: true });
  const cwd = directory;
  const { url } = redis;
  const picture = await jpegPhoto(120, 80);
  const [early, late] = await withApp(cwd, {}, async (base) => {
    const first = await upload({ base }, picture, "image/jpeg");
    await migrate(cwd, url);
    return [first, await upload({ base }, picture, "image/jpeg")];
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
});
