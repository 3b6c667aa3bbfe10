import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { createImages } from "@outrigger/core";
import { toFetchHandler } from "@outrigger/fetch";
import { createRenderer } from "@outrigger/imaging";
import { createS3BlobStore } from "@outrigger/s3";
import { createSqlBlobStore } from "@outrigger/sql";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { problemsOf, verified } from "../packages/ops/test/verify-site.ts";
import { pngPhoto } from "./support/pictures.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";
import { type S3Access, useS3Server } from "./support/s3-server.ts";
import { startSpoilingProxy } from "./support/spoiling-proxy.ts";

const TWO_HOURS_MS = 7_200_000;

let s3: S3Access;
let postgres: PostgresServer;
beforeAll(async () => {
  [s3, postgres] = await Promise.all([useS3Server(), startPostgres()]);
});
afterAll(() => Promise.all([s3.stop(), postgres.close()]));

/** A gateway in front of the object storage that keeps the writes of renditions until `release`, which resolves to their status. */
async function startKeepingProxy() {
  const kept: { incoming: IncomingMessage; body: Promise<Buffer> }[] = [];
  const { origin, close } = await startSpoilingProxy(() => s3.endpoint, {
    answer(incoming) {
      const isKept = incoming.method === "PUT" && /\/blobs\/.*\/renditions\//.test(incoming.url ?? "");
      if (isKept) kept.push({ incoming, body: buffer(incoming) });
      return isKept;
    },
  });
  onTestFinished(close);
  const release = async () => {
    const statuses: (number | undefined)[] = [];
    for (const { incoming, body } of kept.splice(0)) {
      const { method, url = "", headers } = incoming;
      const passed = request(new URL(url, s3.endpoint), { method, headers });
      passed.end(await body);
      const [reply] = (await once(passed, "response")) as [IncomingMessage]; // As Node documents the event.
      await buffer(reply);
      statuses.push(reply.statusCode);
    }
    return statuses;
  };
  return { origin, kept, release };
}

test.each(["S3", "PostgreSQL"])(
  "a rendition that S3 stores after the deletion is never served, and verify removes it, with records in %s",
  async (kind) => {
    const proxy = await startKeepingProxy();
    const { credentials } = s3;
    const store = createS3BlobStore({
      ...{ bucket: await s3.createBucket(), credentials, endpoint: proxy.origin, timeoutMs: 1000 },
    });
    const records = kind === "S3" ? store : createSqlBlobStore({ url: postgres.url });
    const storage = { records, originals: store, renditions: store };
    const images = createImages({
      ...{
        storage,
        renderer: createRenderer({ timeoutMs: 60_000 }),
        secret: "0123456789abcdef0123456789abcdef",
      },
      ...{ sweepEveryMs: false, onError: () => undefined },
    });
    onTestFinished(() => images.close());
    const { id } = await images.add(await pngPhoto(64, 64), { expiresAt: null });
    const handle = toFetchHandler(images, { clientAddress: () => "127.0.0.1" });
    const get = async () => {
      const reply = await handle(new Request(`http://localhost/api/images/${id}.jpg`));
      await reply.arrayBuffer();
      return reply.status;
    };
    expect(await get()).toBe(200);
    await expect.poll(() => proxy.kept.length).toBeGreaterThan(0);
    await images.remove(id);
    // The store repeats a write that gets no reply.
    await expect.poll(() => proxy.release()).toContain(200);

    const { keys } = await store.list(`${id}/renditions/`);
    expect(keys).toHaveLength(1);
    expect(await get()).toBe(410);
    const verify = (now: number, repair: boolean) =>
      verified({ store, clock: { now } }, { storage, repair, patienceMs: 10_000 });
    expect((await verify(Date.now(), false)).findings).toEqual([]);
    const found = await verify(Date.now() + TWO_HOURS_MS, true);
    expect(problemsOf(found)).toEqual({ [String(keys[0])]: "ended-bytes removed" });
    expect((await store.list(`${id}/renditions/`)).keys).toEqual([]);
  },
);
