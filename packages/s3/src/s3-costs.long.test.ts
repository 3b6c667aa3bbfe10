import { afterAll, beforeAll, expect, test } from "vitest";
import { jpegPhoto } from "../../../test/support/pictures.ts";
import { type S3Access, useS3Server } from "../../../test/support/s3-server.ts";
import { addressOf, startSite, upload } from "../../../test/support/service.ts";
import { clientOf } from "../test/s3-client.ts";
import { createS3BlobStore } from "./s3-blob-store.ts";

let server: S3Access;
beforeAll(async () => {
  server = await useS3Server();
});
afterAll(() => server.stop());

test("a service with all roles in one bucket sends the number of requests that the README states", async () => {
  const sent: { kind: string; about: string }[] = [];
  const client = clientOf(server, "finalizeRequest", ({ method, path, query }) => {
    sent.push({ kind: "list-type" in query ? "LIST" : method, about: path + JSON.stringify(query) });
  });
  const storage = createS3BlobStore({ bucket: await server.createBucket(), client });
  await storage.capabilities();
  // No sweeps: the first one would start at a random time within the first seconds.
  const site = await startSite({ storage, secret: Buffer.alloc(32, 1), sweepEveryMs: false });
  try {
    await site.images.ready();
    sent.length = 0;
    const image = await upload(site, await jpegPhoto(400, 300), "image/jpeg");
    // Requests after a reply count too. Those that arrive after a check are counted by the next one.
    const expectCost = async (...cost: number[]) => {
      const count = (wanted: string) =>
        sent.filter(({ kind, about }) => kind === wanted && about.includes(image.id)).length;
      const looks = () => sent.filter(({ about }) => about.includes("/identity{")).length;
      await expect.poll(() => [...["GET", "LIST", "PUT", "DELETE"].map(count), looks()]).toEqual(cost);
      sent.length = 0;
    };
    // The last number counts reads of the store's identity.
    // The record, the original, and the entries for the sweep and in the index of copies.
    await expectCost(0, 0, 4, 0, 1);
    const read = async () => {
      const reply = await fetch(addressOf(site, image.id, "png"));
      expect(reply.status).toBe(200);
      await reply.arrayBuffer();
    };
    await read();
    await expectCost(6, 0, 4, 1, 0);
    await read();
    await expectCost(1, 0, 0, 0, 0);
    const json = `${addressOf(site, image.id, "json")}?pin=${image.pin}`;
    expect((await fetch(`${json}&name=Second`, { method: "PATCH" })).status).toBe(200);
    await expectCost(1, 0, 1, 0, 0);
    expect((await fetch(json, { method: "DELETE" })).status).toBe(204);
    await expectCost(12, 1, 3, 6, 0);
    const missing = await fetch(addressOf(site, "A".repeat(22), "png"));
    expect(missing.status).toBe(404);
    await expectCost(0, 0, 0, 0, 1);
    expect(site.errors).toEqual([]);
  } finally {
    await site.close();
    client.destroy();
  }
});
