import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { createImageAdmin, createImages, createMemoryBlobStore, type ImageStorage } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import { createS3BlobStore, type S3BlobStore } from "@outrigger/s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startHost } from "./support/hosts.ts";
import { jpegPhoto, pngPhoto } from "./support/pictures.ts";
import { type S3Server, startS3Server } from "./support/s3-server.ts";
import { addressOf, type Created, upload } from "./support/service.ts";

const SECRET = "a secret of at least thirty-two bytes";
const FORMATS = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];
const DAY_MS = 86_400_000;

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server();
});
afterAll(() => server.stop());

function createStore(bucket: string, prefix = ""): S3BlobStore {
  const { endpoint, credentials } = server;
  return createS3BlobStore({ bucket, prefix, endpoint, credentials, timeoutMs: 10_000 });
}

/** The image service in a host, with a clock that the test moves. */
async function startNode(storage: ImageStorage) {
  const clock = { now: Date.parse("2026-03-01T12:00:00.000Z") };
  const errors: unknown[] = [];
  const images = createImages({
    storage,
    secret: SECRET,
    renderer: createRenderer(),
    rateLimits: false,
    asyncAfterMs: false,
    sweepEveryMs: false,
    now: () => clock.now,
    onError: (error) => errors.push(error),
  });
  const host = await startHost("Express 5", images, "/img");
  return {
    base: host.base,
    images,
    clock,
    errors,
    async close() {
      await host.close();
      await images.close();
    },
  };
}

async function edit(node: { base: string }, { id, pin }: Created, name: string): Promise<number> {
  const response = await fetch(addressOf(node, id, "json"), {
    method: "PATCH",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name, pin }),
  });
  await response.arrayBuffer();
  return response.status;
}

async function remove(node: { base: string }, { id, pin }: Created): Promise<number> {
  return (await fetch(`${addressOf(node, id, "json")}?pin=${pin}`, { method: "DELETE" })).status;
}

async function nameOf(node: { base: string }, { id }: Created): Promise<unknown> {
  const record = (await (await fetch(addressOf(node, id, "json"))).json()) as { name?: unknown };
  return record.name;
}

async function statusOf(node: { base: string }, { id }: Created, suffix: string): Promise<number> {
  const response = await fetch(addressOf(node, id, suffix));
  await response.arrayBuffer();
  return response.status;
}

async function keysOf(bucket: string, { id }: Created): Promise<string[]> {
  const { Contents = [] } = await server.client.send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key = "" }) => Key).filter((key) => key.includes(id));
}

describe.each([
  ["all roles in a bucket", (bucket: string): ImageStorage => createStore(bucket)],
  [
    "bytes in a bucket and records in memory",
    (bucket: string): ImageStorage => ({
      records: createMemoryBlobStore(),
      originals: createStore(bucket, "originals/"),
      renditions: createStore(bucket, "renditions/"),
    }),
  ],
])("with %s", (_name, storageIn) => {
  test("an image can be stored, read in every format, edited and deleted, and leaves no object", async () => {
    const bucket = await server.createBucket();
    const node = await startNode(storageIn(bucket));
    const image = await upload(node, await jpegPhoto(300, 200), "image/jpeg", { name: "first" });
    for (const suffix of [...FORMATS, ...FORMATS, "png?resize=16x"]) {
      expect(await statusOf(node, image, suffix), suffix).toBe(200);
    }
    const range = await fetch(addressOf(node, image.id, "jpg"), { headers: { Range: "bytes=10-19" } });
    expect([range.status, (await range.arrayBuffer()).byteLength]).toEqual([206, 10]);
    expect(await edit(node, image, "second")).toBe(200);
    expect(await nameOf(node, image)).toBe("second");
    expect(await remove(node, image)).toBe(204);
    expect(await statusOf(node, image, "png")).toBe(410);
    await node.images.sweep();
    const left = await keysOf(bucket, image);
    // The role comes after the ID; before it stands the list of a due entry.
    const roles = left.map((key) => key.slice(key.indexOf(image.id)));
    expect(roles.filter((role) => /original\b|renditions?\//.test(role))).toEqual([]);
    node.clock.now += 60 * DAY_MS;
    await node.images.sweep();
    expect(await keysOf(bucket, image)).toEqual([]);
    expect(node.errors).toEqual([]);
    await node.close();
  }, 120_000);
});

test("two services on one bucket see edits, deletes and withheld images of each other at once", async () => {
  const bucket = await server.createBucket();
  const [one, other] = [await startNode(createStore(bucket)), await startNode(createStore(bucket))];
  const image = await upload(one, await pngPhoto(60, 40), "image/png", { name: "first" });
  for (let turn = 0; turn < 5; turn++) {
    expect([await statusOf(one, image, "png"), await statusOf(other, image, "jpg")]).toEqual([200, 200]);
    expect(await edit(turn % 2 === 0 ? one : other, image, `turn ${turn}`)).toBe(200);
    expect([await nameOf(one, image), await nameOf(other, image)]).toEqual([`turn ${turn}`, `turn ${turn}`]);
  }
  const adminStore = createStore(bucket);
  const admin = createImageAdmin({ storage: adminStore, now: () => one.clock.now });
  await admin.withhold(image.id, { reason: "complaint" });
  expect([await statusOf(one, image, "png"), await statusOf(other, image, "png")]).toEqual([451, 451]);
  await admin.release(image.id);
  expect([await statusOf(one, image, "png"), await statusOf(other, image, "png")]).toEqual([200, 200]);
  expect(await remove(other, image)).toBe(204);
  expect([await statusOf(one, image, "png"), await statusOf(other, image, "json")]).toEqual([410, 410]);
  expect([...one.errors, ...other.errors]).toEqual([]);
  await one.close();
  await other.close();
  await adminStore.close();
}, 60_000);
