import { randomBytes } from "node:crypto";
import { createImageAdmin } from "@outrigger/core";
import { expect, test } from "vitest";
import { jpegPhoto } from "../../../test/support/pictures.ts";
import { addressOf, type Site, startSite, upload } from "../../../test/support/service.ts";
import { useRedis } from "../test/redis-stores.ts";
import { createRedisBlobStore } from "./blobs/redis-blob-store.ts";

const redis = useRedis();

test.each(["server", "cluster"])(
  "two services in Express on one %s serve the same images, and a change by one takes effect in the other at once",
  async (kind) => {
    const url = kind === "server" ? redis.server.url : redis.cluster.urls;
    const secret = randomBytes(32);
    const open = () => createRedisBlobStore({ url, timeoutMs: 10_000 });
    const sites: Site[] = [];
    for (let turn = 0; turn < 2; turn++)
      sites.push(await startSite({ storage: open(), secret, host: "Express 5" }));
    const [one, other] = sites;
    if (one === undefined || other === undefined) throw new Error("There are two.");
    const admin = createImageAdmin({ storage: open() });
    const status = async (site: Site, suffix: string) =>
      (await fetch(addressOf(site, image.id, suffix))).status;
    const image = await upload(one, await jpegPhoto(1600, 1200), "image/jpeg", { name: "First" });
    try {
      const rendition = await fetch(addressOf(other, image.id, "png"));
      expect([rendition.status, rendition.headers.get("content-type")]).toEqual([200, "image/png"]);
      expect((await rendition.arrayBuffer()).byteLength).toBeGreaterThan(100_000);

      const json = `${addressOf(other, image.id, "json")}?pin=${image.pin}`;
      const edited = await fetch(`${json}&name=Second`, { method: "PATCH" });
      expect(edited.status).toBe(200);
      expect(await (await fetch(addressOf(one, image.id, "json"))).text()).toContain("Second");

      await admin.withhold(image.id, { reason: "Removed by court order" });
      for (const site of sites) {
        for (const suffix of ["png", "jpg", "json"]) expect(await status(site, suffix)).toBe(451);
      }
      await admin.release(image.id);
      for (const site of sites) expect(await status(site, "png")).toBe(200);

      expect((await fetch(json, { method: "DELETE" })).status).toBe(204);
      for (const site of sites) expect(await status(site, "png")).toBe(410);
      expect(sites.flatMap(({ errors }) => errors)).toEqual([]);
    } finally {
      await admin.close();
      for (const site of sites) await site.close();
    }
  },
);
