import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { createFsBlobStore, createImageAdmin, createImages } from "@outrigger/core";
import type { BlobStore } from "@outrigger/core/stores";
import { createRenderer } from "@outrigger/imaging";
import { type BackupReport, backupStorage, type RestoreReport, restoreStorage } from "@outrigger/ops";
import { createRedisBlobStore } from "@outrigger/redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { outrigger, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import { startHost } from "./support/hosts.ts";
import { pngPhoto } from "./support/pictures.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { type Created, upload } from "./support/service.ts";
import { stockDirectory } from "./support/stocked-directory.ts";

const SIGNALLING = new URL("./support/signal-after-writes.mjs", import.meta.url).href;
const SECRET = { OUTRIGGER_SECRET: "the same for all processes, 32 bytes" };
/** One key after the other, so that all that happens has an order. */
const SLOWLY = ["--json", "--concurrency", "1"];
const IMAGES = 60;

let redis: RedisServer;

beforeAll(async () => {
  redis = await startRedis();
});

afterAll(() => redis?.close());

async function run(cwd: string, args: readonly string[], env: Record<string, string>) {
  const { exit, output } = outrigger(args, { cwd, env });
  return { code: await exit, ...output };
}

/** Has a command kill itself when it has written to Redis so often. */
function killedAfter(writes: number): Record<string, string> {
  return { NODE_OPTIONS: `--import ${SIGNALLING}`, SIGNAL_AFTER_WRITES: `SIGKILL:${writes}` };
}

async function read(store: BlobStore, key: string): Promise<Buffer> {
  const blob = await store.get(key);
  if (blob === null) throw new Error(`There is no ${key}`);
  return Buffer.isBuffer(blob.body) ? blob.body : Buffer.concat(await blob.body.toArray());
}

describe("killed runs of backup and restore", () => {
  it("a killed backup or restore is not taken for complete, and the next run resumes it", async () => {
    const cwd = await temporaryDirectory();
    const ids = await stockDirectory(join(cwd, "data"), IMAGES, 2_000);
    const storage = { ...SECRET, OUTRIGGER_STORAGE: redis.url };
    const restoring = ["restore", "--from", "file:./backup", ...SLOWLY];
    const backingUp = ["backup", "--to", "file:./backup", ...SLOWLY];
    expect((await run(cwd, backingUp, SECRET)).code).toBe(0);

    // A restore to Redis that is killed is not served, and ends when it is run again.
    expect((await run(cwd, restoring, { ...storage, ...killedAfter(300) })).code).toBe("SIGKILL");
    const refused = await run(cwd, ["images", "list"], storage);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("their restore from file:") });
    const again = await run(cwd, restoring, storage);
    const { restored, kept, isComplete } = JSON.parse(again.stdout) as RestoreReport;
    expect([restored + kept, isComplete]).toEqual([IMAGES, true]);
    expect(kept).toBeGreaterThan(0);

    // So is a backup of that Redis.
    const elsewhere = ["backup", "--to", "file:./second", ...SLOWLY];
    expect((await run(cwd, elsewhere, { ...storage, ...killedAfter(300) })).code).toBe("SIGKILL");
    const early = await run(cwd, ["restore", "--from", "file:./second", "--data", "new"], {});
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining("the backup is not whole") });
    const report = JSON.parse((await run(cwd, elsewhere, storage)).stdout) as BackupReport;
    expect([report.copied + report.unchanged, report.isComplete]).toEqual([3 * IMAGES, true]);
    expect(report.unchanged).toBeGreaterThan(0);

    const [first, last] = ["data", "second"].map((name) => createFsBlobStore({ directory: join(cwd, name) }));
    if (first === undefined || last === undefined) throw new Error("There are no stores");
    for (const id of ids) {
      for (const part of ["record", "original"]) {
        expect((await read(last, `${id}/${part}`)).equals(await read(first, `${id}/${part}`))).toBe(true);
      }
    }
    await first.close();
    await last.close();
  });
});

describe("backupStorage of a live source", () => {
  it("a backup has each image as before or after a concurrent edit, and the owner's quota continues after the restore", async () => {
    const cwd = await temporaryDirectory();
    const from = createRedisBlobStore({ url: redis.url, prefix: "live" });
    const secret = SECRET.OUTRIGGER_SECRET;
    const options = {
      secret,
      rateLimits: false,
      asyncAfterMs: false,
      authorize: () => ({ owner: "alice" }),
    } as const;
    const images = createImages({
      ...options,
      storage: from,
      renderer: createRenderer({ timeoutMs: 60_000 }),
    });
    const host = await startHost("node:http", images);
    const digests = new Map<string, string>();
    const names = new Map<string, string[]>();
    const add = async () => {
      const bytes = await pngPhoto(8 + digests.size, 8);
      const created = await upload(host, bytes, "image/png", { name: "0" });
      const served = await (await fetch(`${host.base}/api/images/${created.id}.png`)).arrayBuffer();
      digests.set(created.id, createHash("sha256").update(Buffer.from(served)).digest("hex"));
      names.set(created.id, ["0"]);
      return created;
    };
    const stock: Created[] = [];
    for (let index = 0; index < 12; index++) stock.push(await add());

    // Every write to the backup makes an edit, a deletion or an upload at the source.
    const deleted = new Set<string>();
    const backup = createFsBlobStore({ directory: join(cwd, "backup") });
    let writes = 0;
    const disturb = async () => {
      const image = stock[writes % stock.length];
      writes++;
      if (image === undefined || deleted.has(image.id) || writes > 40) return;
      const headers = { "X-Service-Image-Pin": image.pin, "Content-Type": "application/json" };
      const address = `${host.base}/api/images/${image.id}.json`;
      if (writes % 10 === 5) {
        deleted.add(image.id);
        expect((await fetch(address, { method: "DELETE", headers })).ok).toBe(true);
      } else if (writes % 10 === 7) {
        await add();
      } else {
        const name = String(writes);
        names.get(image.id)?.push(name);
        expect((await fetch(address, { method: "PATCH", headers, body: JSON.stringify({ name }) })).ok).toBe(
          true,
        );
      }
    };
    const to: BlobStore = {
      list: backup.list,
      get: backup.get,
      stat: backup.stat,
      delete: backup.delete,
      close: backup.close,
      async put(key, body, putOptions) {
        const put = await backup.put(key, body, putOptions);
        await disturb();
        return put;
      },
    };
    const report = await backupStorage({ from, to, source: "live", concurrency: 2 });
    expect(report).toMatchObject({ damaged: [], failed: [], isComplete: true });
    expect(deleted.size).toBeGreaterThan(0);
    await host.close();
    await images.close();

    const data = createFsBlobStore({ directory: join(cwd, "new") });
    const restored = await restoreStorage({ from: backup, to: data });
    expect(restored).toMatchObject({ damaged: [], failed: [], isComplete: true });
    const after = createImages({
      ...options,
      storage: data,
      renderer: createRenderer({ timeoutMs: 60_000 }),
    });
    const again = await startHost("node:http", after);
    let living = 0;
    for (const [id, digest] of digests) {
      const response = await fetch(`${again.base}/api/images/${id}.png`);
      const bytes = Buffer.from(await response.arrayBuffer());
      if (response.status === 200) {
        living++;
        expect(createHash("sha256").update(bytes).digest("hex")).toBe(digest);
        const { name } = await (await fetch(`${again.base}/api/images/${id}.json`)).json();
        expect(names.get(id)).toContain(name);
      } else if (response.status === 410) expect(deleted).toContain(id);
      // Uploaded after the records were listed: in the next run.
      else expect([response.status, stock.some((image) => image.id === id)]).toEqual([404, false]);
    }
    expect(living).toBeGreaterThanOrEqual(stock.length - deleted.size);
    expect((await createImageAdmin({ storage: data }).usage("alice")).images).toBe(living);
    await upload(again, await pngPhoto(50, 8), "image/png");
    expect((await after.usage("alice")).images).toBe(living + 1);
    await again.close();
    await after.close();
    await backup.close();
  });

  it("a backup names damaged files of the source, exits with 1, and keeps the good copies of the run before", async () => {
    const cwd = await temporaryDirectory();
    const [id = ""] = await stockDirectory(join(cwd, "data"), 5, 2_000);
    const args = ["backup", "--to", "file:./backup"];
    expect((await run(cwd, args, {})).code).toBe(0);
    const data = createFsBlobStore({ directory: join(cwd, "data") });
    const good = await read(data, `${id}/original`);
    await data.put(`${id}/original`, randomBytes(500));
    await data.close();
    const { code, stderr, stdout } = await run(cwd, args, {});
    expect([code, stderr]).toEqual([1, expect.stringContaining(`damaged at the source: ${id}/original: `)]);
    expect(stdout).toContain("is complete, as of ");
    const backup = createFsBlobStore({ directory: join(cwd, "backup") });
    expect((await read(backup, `${id}/original`)).equals(good)).toBe(true);
    await backup.close();
  });
});
