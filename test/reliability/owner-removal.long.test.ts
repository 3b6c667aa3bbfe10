import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createImages, type StoreRole } from "@outrigger/core";
import { openStorage } from "@outrigger/core/stores";
import { expect, onTestFinished, test, vi } from "vitest";
import { pngPhoto } from "../support/pictures.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { startRedis } from "../support/redis-server.ts";
import { useS3Server } from "../support/s3-server.ts";

const { acceptingRenderer } = await import(new URL("../support/host-process.mjs", import.meta.url).href);
const root = fileURLToPath(new URL("../..", import.meta.url));
const IMAGES = 60;
const KILL_AFTER = 7;
const SECRET = "0123456789abcdef0123456789abcdef";

/** Deletes an owner's images, and kills itself when some of them are gone. */
const APP = `
import { createImages } from "@outrigger/core";
import { openStorage } from "@outrigger/core/stores";
import { acceptingRenderer } from "./test/support/host-process.mjs";

let left = ${KILL_AFTER};
const logger = {
  info: (_facts, text) => text === "image removed" && --left === 0 && process.kill(process.pid, "SIGKILL"),
  warn() {},
  error() {},
};
const storage = await openStorage(JSON.parse(process.env.STORAGE));
const images = createImages({ storage, secret: "${SECRET}", renderer: acceptingRenderer, logger });
await images.removeAll({ owner: "anna" });
`;

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "outrigger-removal-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

async function bucketUrl(): Promise<string> {
  const { endpoint, credentials, createBucket, stop } = await useS3Server();
  onTestFinished(stop);
  vi.stubEnv("AWS_ACCESS_KEY_ID", credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", credentials.secretAccessKey);
  onTestFinished(() => void vi.unstubAllEnvs());
  return `s3://${await createBucket()}?endpoint=${endpoint}&timeoutMs=10000`;
}

const STORES: [string, () => Promise<string | Record<StoreRole, string>>][] = [
  ["a directory", async () => `file:${join(await directory(), "data")}`],
  [
    "Redis",
    async () => {
      const redis = await startRedis();
      onTestFinished(() => redis.close());
      return redis.url;
    },
  ],
  ["S3", bucketUrl],
  [
    "PostgreSQL and S3",
    async () => {
      const postgres = await startPostgres();
      onTestFinished(() => postgres.close());
      const pictures = await bucketUrl();
      return { records: postgres.url, originals: pictures, renditions: pictures };
    },
  ],
];

test.each(STORES)(
  "a deletion of an owner's images in %s is finished by another process after SIGKILL",
  async (_name, start) => {
    const url = await start();
    const images = createImages({
      storage: await openStorage(url),
      secret: SECRET,
      renderer: acceptingRenderer,
      sweepEveryMs: 1000,
    });
    onTestFinished(() => images.close());
    const picture = await pngPhoto(8, 8);
    const ids: string[] = [];
    for (let number = 0; number < IMAGES; number++)
      ids.push((await images.add(picture, { owner: "anna" })).id);
    const kept = (await images.add(picture, { owner: "ben" })).id;

    const killed = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", APP], {
      cwd: root,
      env: { ...process.env, STORAGE: JSON.stringify(url) },
    });
    await expect(killed).rejects.toMatchObject({ signal: "SIGKILL" });
    const { states } = await images.stats({ owner: "anna" });
    expect(states.ready).toBeGreaterThan(0);
    expect(states.ready).toBeLessThanOrEqual(IMAGES - KILL_AFTER);

    await expect.poll(async () => (await images.usage("anna")).images).toBe(0);
    for (const id of ids) await expect(images.find(id)).rejects.toMatchObject({ code: "gone" });
    expect((await images.find(kept)).status).toBe("ready");
    const later = (await images.add(picture, { owner: "anna" })).id;
    await images.sweep();
    expect((await images.find(later)).status).toBe("ready");
  },
);
