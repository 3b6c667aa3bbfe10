import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { createRedisBlobStore } from "@outrigger/redis";
import { describe, expect, it } from "vitest";
import { pngPhoto } from "./support/pictures.ts";
import { startRedis } from "./support/redis-server.ts";
import { addressOf, type Created, postImage, type Site, startSite, upload } from "./support/service.ts";

// Each test starts a service, one a Redis server.
const SECRET = Buffer.alloc(32, 1);
const BROWSER = { Accept: "text/html" };

async function statuses(site: Site, { id }: Created): Promise<number[]> {
  const addresses = [addressOf(site, id, "png"), addressOf(site, id, "json"), `${site.base}/${id}/view`];
  const replies = await Promise.all(addresses.map((address) => fetch(address, { headers: BROWSER })));
  for (const reply of replies) await reply.arrayBuffer();
  return replies.map(({ status }) => status);
}

async function uploadStatus(site: Site): Promise<number> {
  const reply = await postImage(site, await pngPhoto(20, 10), "image/png");
  await reply.arrayBuffer();
  return reply.status;
}

describe("a storage that goes away while it is served", () => {
  it("a moved data directory answers 503 until it is back", async () => {
    const site = await startSite({ sweepEveryMs: false });
    const { directory } = site;
    try {
      const image = await upload(site, await pngPhoto(40, 30), "image/png");
      await rename(directory, `${directory}.away`);
      expect(await statuses(site, image)).toEqual([503, 503, 503]);
      expect(await uploadStatus(site)).toBe(503);
      await expect(site.images.sweep()).rejects.toMatchObject({ code: "store_unavailable" });
      await expect(site.images.ready()).rejects.toMatchObject({ code: "store_unavailable" });
      // Each failure is reported, as of any store that is away.
      const gone = `ServiceError: The data directory is gone: no ${join(directory, "blobs")}`;
      expect(site.errors.map(String)).toContain(gone);
      expect(existsSync(directory)).toBe(false);
      await rename(`${directory}.away`, directory);
      expect(await statuses(site, image)).toEqual([200, 200, 200]);
      await expect(site.images.ready()).resolves.toBeUndefined();
    } finally {
      await site.close();
      await rm(`${directory}.away`, { recursive: true, force: true });
    }
  });

  it("an empty mount over the data directory answers 503 and receives no images and no secret", async () => {
    const site = await startSite({ sweepEveryMs: false });
    const { directory } = site;
    try {
      const image = await upload(site, await pngPhoto(40, 30), "image/png");
      await rename(directory, `${directory}.away`);
      const empty = createFsBlobStore({ directory });
      expect(await statuses(site, image)).toEqual([503, 503, 503]);
      expect(await uploadStatus(site)).toBe(503);
      expect((await empty.list("")).keys).toEqual([]);
      expect(existsSync(`${directory}/secret`)).toBe(false);
      await empty.close();
      await rm(directory, { recursive: true });
      await rename(`${directory}.away`, directory);
      expect(await statuses(site, image)).toEqual([200, 200, 200]);
    } finally {
      await site.close();
      await rm(`${directory}.away`, { recursive: true, force: true });
    }
  });

  it("an emptied Redis answers 503, even after another process starts a new store there", async () => {
    const server = await startRedis();
    const open = () =>
      startSite({
        storage: createRedisBlobStore({ url: server.url, timeoutMs: 10_000 }),
        secret: SECRET,
        sweepEveryMs: false,
      });
    const sites: Site[] = [await open()];
    const [site] = sites;
    if (site === undefined) throw new Error("There is one.");
    try {
      const image = await upload(site, await pngPhoto(40, 30), "image/png");
      await server.kill();
      await server.start();
      // Until the connection is back, the store is away: 503 as well.
      await expect.poll(() => said(site)).toEqual([expect.stringContaining("empty")]);
      expect(await statuses(site, image)).toEqual([503, 503, 503]);
      expect(await uploadStatus(site)).toBe(503);
      expect(await server.cli("DBSIZE")).toBe("0");

      const next = await open();
      sites.push(next);
      await next.images.ready();
      expect(await statuses(next, image)).toEqual([404, 404, 404]);
      expect(await statuses(site, image)).toEqual([503, 503, 503]);
      expect(await uploadStatus(site)).toBe(503);
      expect((await said(site)).at(-1)).toContain("replaced by another one");
      const fresh = await upload(next, await pngPhoto(30, 40), "image/png");
      expect(await statuses(next, fresh)).toEqual([200, 200, 200]);
      await server.cli("FLUSHALL");
      expect(await statuses(next, fresh)).toEqual([503, 503, 503]);
    } finally {
      for (const each of sites) await each.close();
      await server.close();
    }
  });
});

/** What was reported of the identity, after another look at it. */
async function said({ images, errors }: Site): Promise<string[]> {
  await images.ready().catch(() => undefined); // Reported to `errors`.
  return errors.map(String).filter((text) => text.includes("The storage"));
}
