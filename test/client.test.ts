import { createImagesClient, type UploadProgress, VERSION } from "@outrigger/client";
import { createHeaderRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { frontForAll, NO_IMAGE, NO_PIN, photo, refusalOf } from "./client/image-client.ts";
import { fileOf } from "./client/sources.ts";
import { withSite } from "./support/quick-site.ts";
import { startTcpProxy } from "./support/tcp-proxy.ts";

const fronted = frontForAll({ renderer: createHeaderRenderer() });
const { client } = fronted;

test("upload reports its progress up to the last byte and resolves with the record of the service", async () => {
  const events: UploadProgress[] = [];
  const created: string[] = [];
  const image = await client().upload(fileOf(photo, "Bucht & »Boot«.jpg"), {
    expiresAt: Date.now() + 3_600_000,
    onProgress: (progress) => events.push(progress),
    onCreated: ({ id, pin }) => created.push(id, pin),
  });
  expect(image).toMatchObject({
    name: "Bucht & »Boot«.jpg",
    type: "image/jpeg",
    status: "ready",
    width: 900,
    height: 700,
    agent: { name: "outrigger-client", version: VERSION },
    url: `${fronted.front.base}/${image.id}`,
    editUrl: `${fronted.front.base}/${image.id}/edit?pin=${image.pin}`,
  });
  expect(created).toEqual([image.id, image.pin]);
  expect(Date.parse(String(image.expiresAt)) - Date.now()).toBeLessThan(3_700_000);
  const sent = events.map(({ sentBytes }) => sentBytes);
  expect(sent).toEqual([...new Set(sent)].sort((a, b) => a - b));
  const [{ totalBytes } = { totalBytes: 0 }] = events;
  expect(totalBytes).toBeGreaterThan(photo.length);
  expect(sent.length).toBeGreaterThan(2);
  expect(events.at(-1)).toEqual({ sentBytes: totalBytes, totalBytes });
  expect(fronted.front.requests[0]?.headers["content-length"]).toBe(String(totalBytes));
  expect(await client().get(image.id)).toMatchObject({ id: image.id, name: image.name });
});

test("upload sends name, expiry, user agent and headers unchanged, including special characters", async () => {
  const expiresAt = new Date(Date.now() + 7_200_000);
  const own = client({ headers: { "User-Agent": "my-app/1.2 (test)", "X-From": "a page" } });
  const name = 'A "name"\twith \\ ; filename="x" & ümläut';
  const image = await own.upload(fileOf(photo, 'quo"te;\n.jpg'), { name, expiresAt });
  expect(image).toMatchObject({
    name: name.replace("\t", ""),
    agent: { name: "my-app", version: "1.2" },
    expiresAt: expiresAt.toISOString(),
  });
  expect(fronted.front.requests[0]?.headers["x-from"]).toBe("a page");
  const nameless = await own.upload(new Blob([new Uint8Array(photo)]));
  expect(nameless).toMatchObject({ name: "untitled", type: "image/jpeg" });
});

test("a refusal rejects with an OutriggerError that has the status and detail of the service", async () => {
  const text = fileOf(Buffer.from("not a picture"), "a.txt", "text/plain");
  const wrongType = await refusalOf(client().upload(text));
  expect(wrongType).toMatchObject({ status: 415, title: "Unsupported Media Type", retryAfterMs: null });
  expect(wrongType.message).toBe(wrongType.detail);
  expect(wrongType.message).toMatch(/^imagedata must be PNG/);
  const unknown = await refusalOf(client().get(NO_IMAGE));
  expect(unknown).toMatchObject({ name: "OutriggerError", status: 404 });
  expect(await refusalOf(client().download(NO_IMAGE, "png"))).toMatchObject({ status: 404 });
  expect(await refusalOf(client().upload(fileOf(photo), { expiresAt: 1 }))).toMatchObject({
    status: 400,
    detail: "expiresAt must be in the future",
  });
  expect(fronted.front.requests).toHaveLength(4);
});

test("upload stops sending a file that the service refuses with 413", async () => {
  const line = await startTcpProxy(Number(new URL(fronted.site.origin).port));
  try {
    const direct = createImagesClient({ baseUrl: `${line.endpoint}/img`, maxRetries: 1 });
    const size = 60_000_000;
    expect(await refusalOf(direct.upload(fileOf(Buffer.alloc(size))))).toMatchObject({ status: 413 });
    expect(line.sentBytes()).toBeLessThan(size);
  } finally {
    await line.close();
  }
});

test("edit changes name and expiry, and rejects for a wrong PIN, a bad date or a stale ETag", async () => {
  const { id, pin } = await client().upload(fileOf(photo));
  const before = await client().get(id);
  const expiresAt = new Date(Date.now() + 7_200_000);
  const renamed = await client().edit(id, pin, { name: "Neu", expiresAt });
  expect(renamed).toMatchObject({ name: "Neu", expiresAt: expiresAt.toISOString() });
  const late = { ifMatch: before.etag ?? "" };
  expect(await refusalOf(client().edit(id, pin, { name: "Spät" }, late))).toMatchObject({ status: 412 });
  const badDate = client().edit(id, pin, { expiresAt: "2026-13-99" });
  expect(await refusalOf(badDate)).toMatchObject({ status: 400 });
  const inTime = { ifMatch: renamed.etag ?? "" };
  expect(await client().edit(id, pin, { name: "Neuer" }, inTime)).toMatchObject({ name: "Neuer" });
  const wrong = await refusalOf(client().edit(id, NO_PIN, { name: "Fremd" }));
  expect(wrong).toMatchObject({ status: 403, detail: "The PIN is wrong" });
  expect(await refusalOf(client().remove(id, NO_PIN))).toMatchObject({ status: 403 });
  expect(fronted.front.requests.map(({ line }) => line).join("\n")).not.toContain(pin);
});

test("upload and edit with expiresAt null keep an image for ever where the service permits it, and reject with 400 elsewhere", async () => {
  const never = { expiresAt: null };
  expect(await refusalOf(client().upload(fileOf(photo), never))).toMatchObject({ status: 400 });
  const { id, pin } = await client().upload(fileOf(photo));
  const refusal = await refusalOf(client().edit(id, pin, never));
  expect(refusal).toMatchObject({ status: 400, detail: expect.stringContaining("365 days") });
  await withSite({ maxLifetimeMs: null }, async ({ base }) => {
    const free = createImagesClient({ baseUrl: base });
    const kept = await free.upload(fileOf(photo), never);
    expect(kept.expiresAt).toBe(null);
    const expiresAt = new Date(Date.now() + 7_200_000);
    const dated = await free.edit(kept.id, kept.pin, { expiresAt });
    expect(dated.expiresAt).toBe(expiresAt.toISOString());
    expect(await free.edit(kept.id, kept.pin, never)).toMatchObject(never);
  });
});

test("remove deletes the image; a second remove and a get reject with 410", async () => {
  const { id, pin } = await client().upload(fileOf(photo));
  await client().remove(id, pin.toLowerCase().replace(/^(.{4})/, "$1-"));
  expect(await refusalOf(client().get(id))).toMatchObject({ status: 410 });
  expect(await refusalOf(client().remove(id, pin))).toMatchObject({ status: 410 });
});

test("remove succeeds if the connection breaks before its answer arrives", async () => {
  const { id, pin } = await client().upload(fileOf(photo));
  const line = await startTcpProxy(Number(new URL(fronted.site.origin).port));
  try {
    line.cut({ direction: "down", afterBytes: 5, times: 1 });
    await createImagesClient({ baseUrl: `${line.endpoint}/img` }).remove(id, pin);
    expect(line.cuts()).toBe(1);
    expect(await refusalOf(client().get(id))).toMatchObject({ status: 410 });
  } finally {
    await line.close();
  }
});

test("edit with ifMatch is not retried after a 503, because its first attempt may have succeeded", async () => {
  const { id, pin } = await client().upload(fileOf(photo));
  const { etag } = await client().get(id);
  fronted.front.requests.length = 0;
  fronted.front.interject({ status: 503, headers: { "Retry-After": "0" } });
  expect(await refusalOf(client().edit(id, pin, { name: "A" }, { ifMatch: etag }))).toMatchObject({
    status: 503,
    retryAfterMs: 0,
  });
  fronted.front.interject({ status: 503, headers: { "Retry-After": "0" } });
  expect(await client().edit(id, pin, { name: "A" })).toMatchObject({ name: "A" });
  expect(fronted.front.requests).toHaveLength(3);
});

test("a malformed ID, PIN, key or date rejects with a TypeError and sends no request", async () => {
  for (const id of ["", "../admin", `${NO_IMAGE}.json?x=`, `${NO_IMAGE}A`]) {
    await expect(client().get(id)).rejects.toThrow(TypeError);
    await expect(client().remove(id, NO_PIN)).rejects.toThrow(TypeError);
    await expect(client().waitUntilReady(id)).rejects.toThrow(TypeError);
    expect(() => client().addressOf(id, "png")).toThrow(TypeError);
  }
  for (const pin of ["", "short", "0000 0000 0000 00", `${NO_PIN}0`, "secret\r\nX-Other: 1"]) {
    const error = await client()
      .edit(NO_IMAGE, pin, { name: "x" })
      .catch((error) => error);
    expect(error).toBeInstanceOf(TypeError);
    if (pin !== "") expect(String(error)).not.toContain(pin);
  }
  await expect(client().upload(fileOf(photo), { idempotencyKey: "two words" })).rejects.toThrow(TypeError);
  await expect(client().upload(fileOf(photo), { expiresAt: new Date(Number.NaN) })).rejects.toThrow(
    TypeError,
  );
  await expect(client().edit(NO_IMAGE, NO_PIN, { expiresAt: 1.5 })).rejects.toThrow(TypeError);
  expect(fronted.front.requests).toEqual([]);
});
