import { createImagesClient } from "@outrigger/client";
import { expect, test } from "vitest";
import { animatedGif } from "../support/pictures.ts";
import { withSite } from "../support/service.ts";
import { photo, refusalOf } from "./image-client.ts";
import { fileOf } from "./sources.ts";

test("upload waits for an image that is processed after the answer", async () => {
  await withSite({ asyncAfterMs: 0 }, async (site) => {
    const client = createImagesClient({ baseUrl: site.base });
    const states: string[] = [];
    const image = await client.upload(fileOf(photo), { onCreated: ({ status }) => states.push(status) });
    expect(states).toEqual(["processing"]);
    expect(image).toMatchObject({ status: "ready", width: 900, pin: expect.stringMatching(/^\w{16}$/) });
  });
});

test("upload with wait: false resolves at once, and download waits for the processing", async () => {
  await withSite({}, async (site) => {
    const client = createImagesClient({ baseUrl: site.base });
    const image = await client.upload(fileOf(photo), { wait: false });
    expect(image).toMatchObject({ status: "processing", width: null });
    const { bytes } = await client.download(image.id, "jpg");
    expect(Buffer.from(await bytes()).equals(photo)).toBe(true);
    const ready = await client.waitUntilReady(image.id, { timeoutMs: Number.POSITIVE_INFINITY });
    expect(ready).toMatchObject({ status: "ready", width: 900, etag: expect.any(String) });
  });
});

test("waitUntilReady ends after timeoutMs or an abort", async () => {
  await withSite({ processUploads: false }, async (site) => {
    const client = createImagesClient({ baseUrl: site.base });
    const { id } = await client.upload(fileOf(photo), { wait: false });
    expect(await client.get(id)).toMatchObject({ status: "processing" });
    expect(await refusalOf(client.waitUntilReady(id, { timeoutMs: 300 }))).toMatchObject({ status: 202 });
    const signal = AbortSignal.timeout(200);
    const error = await client.waitUntilReady(id, { signal, timeoutMs: 60_000 }).catch((error) => error);
    expect([error.name, error === signal.reason]).toEqual(["TimeoutError", true]);
  });
});

test("upload of a broken picture rejects with the reason after onCreated received the PIN", async () => {
  await withSite({ asyncAfterMs: 0 }, async (site) => {
    const whole = await animatedGif();
    const half = fileOf(whole.subarray(0, whole.length / 2), "half.gif", "image/gif");
    const created: string[] = [];
    const client = createImagesClient({ baseUrl: site.base });
    const error = await refusalOf(client.upload(half, { onCreated: ({ pin }) => created.push(pin) }));
    expect(error).toMatchObject({ status: 404, detail: expect.stringContaining("damaged or incomplete") });
    expect(created).toHaveLength(1);
  });
});

test("an image that is held for review ends the wait of upload and waitUntilReady, and refuses a download", async () => {
  await withSite({ inspect: () => "hold", asyncAfterMs: 0 }, async (site) => {
    const client = createImagesClient({ baseUrl: site.base });
    const image = await client.upload(fileOf(photo));
    expect(image).toMatchObject({ status: "held", width: 900, pin: expect.stringMatching(/^\w{16}$/) });
    expect(await client.waitUntilReady(image.id)).toMatchObject({ id: image.id, status: "held" });
    expect(await refusalOf(client.download(image.id, "png"))).toMatchObject({
      status: 202,
      detail: "The image waits for review",
    });
  });
});
