import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createImagesClient, OutriggerError, type UploadProgress, VERSION } from "@outrigger/client";
import { createMemoryRateLimiter, ServiceError } from "@outrigger/core";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Front, startFront } from "./client/front.ts";
import { fileOf, openable } from "./client/sources.ts";
import { jpegPhoto, pngPhoto } from "./support/pictures.ts";
import { startS3Proxy } from "./support/s3-proxy.ts";
import { type Site, type SiteOptions, startSite } from "./support/service.ts";

const NO_IMAGE = "AAAAAAAAAAAAAAAAAAAAAA";
const NO_PIN = "0000000000000000";
let photo: Buffer;

beforeAll(async () => {
  photo = await jpegPhoto(900, 700);
});

/** What a call rejects with, which must be one of ours. */
async function refusalOf(call: Promise<unknown>): Promise<OutriggerError> {
  const error = await call.then(
    (value) => assert.fail(`It resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (error instanceof OutriggerError) return error;
  throw error;
}

async function idsIn({ images }: Site): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of images.list()) ids.push(id);
  return ids;
}

/** Runs a test against a service of its own. */
async function withSite(options: SiteOptions, run: (site: Site) => Promise<void>): Promise<void> {
  const site = await startSite(options);
  try {
    await run(site);
    expect(site.errors).toEqual([]);
  } finally {
    await site.close();
  }
}

describe("images", () => {
  let site: Site;
  let front: Front;
  beforeAll(async () => {
    site = await startSite();
    front = await startFront(site);
  });
  beforeEach(() => {
    front.requests.length = 0;
  });
  afterEach(() => expect(site.errors).toEqual([]));
  afterAll(async () => {
    await front.close();
    await site.close();
  });
  const client = (more: Partial<Parameters<typeof createImagesClient>[0]> = {}) =>
    createImagesClient({ baseUrl: front.base, ...more });

  test("an upload tells how much was sent, at last that all was, and has all that the service says", async () => {
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
      url: `${front.base}/${image.id}`,
      editUrl: `${front.base}/${image.id}/edit?pin=${image.pin}`,
    });
    expect(created).toEqual([image.id, image.pin]);
    expect(Date.parse(image.expiresAt) - Date.now()).toBeLessThan(3_700_000);
    const sent = events.map(({ sentBytes }) => sentBytes);
    expect(sent).toEqual([...new Set(sent)].sort((a, b) => a - b));
    const [{ totalBytes } = { totalBytes: 0 }] = events;
    expect(totalBytes).toBeGreaterThan(photo.length);
    expect(sent.length).toBeGreaterThan(2);
    expect(events.at(-1)).toEqual({ sentBytes: totalBytes, totalBytes });
    expect(front.requests[0]?.headers["content-length"]).toBe(String(totalBytes));
    expect(await client().get(image.id)).toMatchObject({ id: image.id, name: image.name });
  });

  test("name, date, user agent and headers are sent as they are given, whatever is in them", async () => {
    const expiresAt = new Date(Date.now() + 7_200_000);
    const own = client({ userAgent: "my-app/1.2 (test)", headers: { "X-From": "a page" } });
    const name = 'A "name"\twith \\ ; filename="x" & ümläut';
    const image = await own.upload(fileOf(photo, 'quo"te;\n.jpg'), { name, expiresAt });
    expect(image).toMatchObject({
      name: name.replace("\t", ""),
      agent: { name: "my-app", version: "1.2" },
      expiresAt: expiresAt.toISOString(),
    });
    expect(front.requests[0]?.headers["x-from"]).toBe("a page");
    const nameless = await own.upload(new Blob([new Uint8Array(photo)]));
    expect(nameless).toMatchObject({ name: "untitled", type: "image/jpeg" });
  });

  test("what is refused says what the service said", async () => {
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
      detail: "expiresAt must lie in the future",
    });
    expect(front.requests).toHaveLength(4);
  });

  test("a file that is too large is refused before all of it has gone", async () => {
    const size = 60_000_000;
    const [chunk, blocks] = [new Uint8Array(100_000), 600];
    let given = 0;
    const source = openable(photo, {
      size,
      stream: () =>
        new ReadableStream({
          pull(controller) {
            if (given++ < blocks) controller.enqueue(chunk);
            else controller.close();
          },
        }),
    });
    const direct = createImagesClient({ baseUrl: site.base, maxRetries: 1 });
    expect(await refusalOf(direct.upload(source))).toMatchObject({ status: 413 });
    expect(given).toBeLessThan(blocks);
  });

  test("an edit changes name and expiry, unless the PIN is wrong or somebody else was faster", async () => {
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
    expect(front.requests.map(({ line }) => line).join("\n")).not.toContain(pin);
  });

  test("what was removed is gone, and removing it again is refused", async () => {
    const { id, pin } = await client().upload(fileOf(photo));
    await client().remove(id, pin.toLowerCase().replace(/^(.{4})/, "$1-"));
    expect(await refusalOf(client().get(id))).toMatchObject({ status: 410 });
    expect(await refusalOf(client().remove(id, pin))).toMatchObject({ status: 410 });
  });

  test("a removal whose answer was lost is done", async () => {
    const { id, pin } = await client().upload(fileOf(photo));
    const line = await startS3Proxy(Number(new URL(site.origin).port));
    try {
      line.cut({ direction: "down", afterBytes: 5, times: 1 });
      await createImagesClient({ baseUrl: `${line.endpoint}/img` }).remove(id, pin);
      expect(line.cuts()).toBe(1);
      expect(await refusalOf(client().get(id))).toMatchObject({ status: 410 });
    } finally {
      await line.close();
    }
  });

  test("an edit that must not overwrite anything is not tried twice when its answer was lost", async () => {
    const { id, pin } = await client().upload(fileOf(photo));
    const { etag } = await client().get(id);
    front.requests.length = 0;
    front.interject({ status: 503, headers: { "Retry-After": "0" } });
    expect(await refusalOf(client().edit(id, pin, { name: "A" }, { ifMatch: etag }))).toMatchObject({
      status: 503,
      retryAfterMs: 0,
    });
    front.interject({ status: 503, headers: { "Retry-After": "0" } });
    expect(await client().edit(id, pin, { name: "A" })).toMatchObject({ name: "A" });
    expect(front.requests).toHaveLength(3);
  });

  test("downloads come in every format, size and quality that is asked for, with their name", async () => {
    const { id } = await client().upload(fileOf(photo, "Bucht & »Boot«.jpg"));
    const original = await client().download(id, "jpg");
    expect(original).toMatchObject({ type: "image/jpeg", name: "Bucht & »Boot«.jpg", size: photo.length });
    expect(Buffer.from(await original.bytes()).equals(photo)).toBe(true);
    const small = await client().download(id, "png", { resize: "90x" });
    expect(small.type).toBe("image/png");
    expect((await sharp(await small.bytes()).metadata()).width).toBe(90);
    const sizes: number[] = [];
    for (const convert of ["low", "max"] as const) {
      sizes.push((await (await client().download(id, "jpg", { convert, resize: "500x" })).bytes()).length);
    }
    expect(sizes[0]).toBeLessThan(sizes[1] ?? 0);
    for (const [format, type] of [
      ["gif", "image/gif"],
      ["svg", "image/svg+xml"],
      ["psd", "image/x-photoshop"],
      ["pdf", "application/pdf"],
      ["webp", "image/webp"],
      ["avif", "image/avif"],
    ] as const) {
      const { type: got, bytes } = await client().download(id, format, { resize: "40x40" });
      expect([got.split(";")[0], (await bytes()).length > 0]).toEqual([type, true]);
    }
    expect(await refusalOf(client().download(id, "png", { resize: "wide" }))).toMatchObject({ status: 400 });
    const linked = await fetch(client().addressOf(id, "png", { resize: "x70" }));
    expect((await sharp(await linked.arrayBuffer()).metadata()).height).toBe(70);
  });

  test("an ID or a PIN that is none is not sent anywhere", async () => {
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
    expect(front.requests).toEqual([]);
  });

  describe("behind a proxy", () => {
    test("its pages are told of in one line", async () => {
      const page = `<!doctype html><title>502 Bad\n Gateway</title><body>${"<p>nginx</p>".repeat(20_000)}`;
      front.interject({ status: 500, headers: { "Content-Type": "text/html" }, body: page });
      const error = await refusalOf(client().get(NO_IMAGE));
      expect(error).toMatchObject({
        status: 500,
        message:
          "The reply is a web page (500 Internal Server Error), which does not come from the service: 502 Bad Gateway",
      });
      front.interject({
        status: 418,
        headers: { "Content-Type": "text/plain" },
        body: "I am a teapot\nreally",
      });
      expect(await refusalOf(client().get(NO_IMAGE))).toMatchObject({
        status: 418,
        title: "I'm a Teapot",
        detail: "I am a teapot",
      });
      front.interject({ status: 400 });
      expect((await refusalOf(client().get(NO_IMAGE))).detail).toBe(
        "The server answered 400 Bad Request without saying why",
      );
    });

    test("what answers in the service's place is not taken for it", async () => {
      front.interject(
        { status: 200, headers: { "Content-Type": "text/html" }, body: "<title>Welcome</title>" },
        { status: 200, headers: { "Content-Type": "application/json" }, body: '{"ok":true}' },
        { status: 200, headers: { "Content-Type": "application/json" }, body: "[]" },
        { status: 200, headers: { "Content-Type": "application/json" }, body: "{" },
      );
      for (let count = 0; count < 4; count++) {
        expect(await refusalOf(client().get(NO_IMAGE))).toMatchObject({
          status: 200,
          title: "Unexpected reply",
          detail: expect.stringContaining("baseUrl"),
        });
      }
    });

    test("a PIN goes nowhere else, and a proxy that repeats it does not get it into a message", async () => {
      const pin = "ABCDEFGH01234567";
      front.interject({ status: 308, headers: { Location: "https://elsewhere.example/img" } });
      const moved = await refusalOf(client().remove(NO_IMAGE, pin));
      expect(moved).toMatchObject({ status: 308, title: "Redirected" });
      expect(moved.detail).toContain("https://elsewhere.example/img");
      front.interject({ status: 307, headers: { Location: "https://elsewhere.example/img" } });
      expect(await refusalOf(client().upload(fileOf(photo)))).toMatchObject({ title: "Redirected" });
      front.interject({ status: 401 });
      expect(await refusalOf(client().upload(fileOf(photo)))).toMatchObject({ status: 401 });
      expect(front.requests).toHaveLength(3);
      front.requests.length = 1;
      front.interject({ status: 403, headers: { "Content-Type": "text/plain" }, body: `No: ${pin}` });
      expect((await refusalOf(client().remove(NO_IMAGE, pin))).message).toBe("No: …");
      expect(front.requests.map(({ headers }) => headers["x-service-image-pin"])).toEqual([pin, pin]);
    });

    test("502 and 504 are failures of the network, and tried again", async () => {
      const html = { headers: { "Content-Type": "text/html" }, body: "<title>Bad gateway</title>" };
      front.interject({ status: 502, ...html }, { status: 504, ...html });
      const { id } = await client().upload(fileOf(photo));
      expect(front.requests).toHaveLength(3);
      expect(new Set(front.requests.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
      front.interject({ status: 502, ...html });
      const once = client({ maxRetries: 0 });
      expect(await refusalOf(once.get(id))).toMatchObject({ status: 502 });
    });

    test("a reply that is cut off is no reply", async () => {
      const { id } = await client().upload(fileOf(photo));
      const half = { status: 200, headers: { "Content-Type": "application/json", "Content-Length": "100" } };
      front.interject({ ...half, body: '{"id":', isCut: true });
      expect(await client().get(id)).toMatchObject({ id });
      front.interject({ ...half, body: '{"id":', isCut: true });
      const once = client({ maxRetries: 0 });
      expect(await refusalOf(once.get(id))).toMatchObject({ status: 0, title: "No reply" });
      const png = { "Content-Type": "image/png" };
      for (const headers of [
        { ...png, "Content-Length": "100" },
        { ...png, "Transfer-Encoding": "chunked" },
      ]) {
        front.interject({ status: 200, headers, body: "abc", isCut: true });
        const cut = await once.download(id, "png");
        expect(await refusalOf(cut.bytes())).toMatchObject({ status: 0 });
      }
    });
  });

  describe("told to come back later", () => {
    test.each([
      ["seconds", 429, () => "1"],
      ["a date", 503, () => new Date(Date.now() + 2000).toUTCString()],
    ])("comes back after %s, not before", async (_what, status, retryAfter) => {
      front.interject({ status, headers: { "Retry-After": retryAfter() } });
      await client().upload(fileOf(photo));
      const [first, second] = front.requests;
      expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(990);
      expect(front.requests).toHaveLength(2);
    });

    test("does not when that is too late, and says when", async () => {
      front.interject({ status: 429, headers: { "Retry-After": "61" } });
      expect(await refusalOf(client().get(NO_IMAGE))).toMatchObject({ status: 429, retryAfterMs: 61_000 });
      front.interject({ status: 503, headers: { "Retry-After": "2" } });
      const impatient = client({ maxRetryAfterMs: 1999 });
      expect(await refusalOf(impatient.get(NO_IMAGE))).toMatchObject({ status: 503, retryAfterMs: 2000 });
      expect(front.requests).toHaveLength(2);
    });

    test("gives up after so many tries", async () => {
      const later = { status: 429, headers: { "Retry-After": "0" } };
      front.interject(later, later, later);
      expect(await refusalOf(client({ maxRetries: 2 }).get(NO_IMAGE))).toMatchObject({ status: 429 });
      expect(front.requests).toHaveLength(3);
    });

    test("stops at once when it is aborted", async () => {
      const reason = new Error("no more");
      const abort = new AbortController();
      front.interject({ status: 503, headers: { "Retry-After": "30" } });
      const call = client().get(NO_IMAGE, { signal: abort.signal });
      await expect.poll(() => front.requests.length).toBe(1);
      setTimeout(() => abort.abort(reason), 50);
      const began = performance.now();
      await expect(call).rejects.toBe(reason);
      expect(performance.now() - began).toBeLessThan(10_000);
      await expect(client().get(NO_IMAGE, { signal: abort.signal })).rejects.toBe(reason);
      await expect(client().upload(fileOf(photo), { signal: abort.signal })).rejects.toBe(reason);
      expect(front.requests).toHaveLength(1);
    });
  });
});

test("the service's own 429 is waited for, with a file half sent", async () => {
  const limiter = createMemoryRateLimiter();
  let refusals = 1;
  const rateLimiter: typeof limiter = {
    ...limiter,
    consume: async (key, rule, cost) =>
      refusals-- > 0 ? { allowed: false, remaining: 0, resetMs: 900 } : limiter.consume(key, rule, cost),
  };
  await withSite({ rateLimits: { creates: 60 }, rateLimiter }, async (site) => {
    const big = await jpegPhoto(1600, 1200);
    const began = performance.now();
    const { id } = await createImagesClient({ baseUrl: site.base }).upload(fileOf(big));
    expect(performance.now() - began).toBeGreaterThan(990);
    expect(await idsIn(site)).toEqual([id]);
  });
});

test("the service's own 503 is waited for", async () => {
  let refusals = 1;
  const authorize = () => {
    if (refusals-- > 0) throw new ServiceError("overloaded", "Later.", { retryAfterMs: 1000 });
    return undefined;
  };
  await withSite({ authorize }, async (site) => {
    const began = performance.now();
    const { id } = await createImagesClient({ baseUrl: site.base }).upload(fileOf(photo));
    expect(performance.now() - began).toBeGreaterThan(990);
    expect(await idsIn(site)).toEqual([id]);
  });
});

describe("processed later", () => {
  test("an upload waits until the picture is there", async () => {
    await withSite({ asyncAfterMs: 0 }, async (site) => {
      const client = createImagesClient({ baseUrl: site.base });
      const states: string[] = [];
      const image = await client.upload(fileOf(photo), { onCreated: ({ status }) => states.push(status) });
      expect(states).toEqual(["processing"]);
      expect(image).toMatchObject({ status: "ready", width: 900, pin: expect.stringMatching(/^\w{16}$/) });
    });
  });

  test("one that does not want to wait is told at once, and downloads wait", async () => {
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

  test("a wait ends in time, and when it is aborted", async () => {
    await withSite({ processUploads: false }, async (site) => {
      const client = createImagesClient({ baseUrl: site.base });
      const { id } = await client.upload(fileOf(photo), { wait: false });
      expect(await client.get(id)).toMatchObject({ status: "processing" });
      expect(await refusalOf(client.waitUntilReady(id, { timeoutMs: 300 }))).toMatchObject({ status: 202 });
      const hasty = createImagesClient({ baseUrl: site.base, maxRetryAfterMs: 500 });
      expect(await refusalOf(hasty.download(id, "png"))).toMatchObject({ status: 202, retryAfterMs: 1000 });
      const signal = AbortSignal.timeout(200);
      const error = await client.waitUntilReady(id, { signal, timeoutMs: 60_000 }).catch((error) => error);
      expect([error.name, error === signal.reason]).toEqual(["TimeoutError", true]);
    });
  });

  test("a picture that turns out to be broken is refused with the reason, its PIN known", async () => {
    await withSite({ asyncAfterMs: 0 }, async (site) => {
      const whole = await pngPhoto();
      const half = fileOf(whole.subarray(0, whole.length / 2), "half.png", "image/png");
      const created: string[] = [];
      const client = createImagesClient({ baseUrl: site.base });
      const error = await refusalOf(client.upload(half, { onCreated: ({ pin }) => created.push(pin) }));
      expect(error).toMatchObject({ status: 404, detail: expect.stringContaining("image/png") });
      expect(created).toHaveLength(1);
    });
  });
});

describe("over a network that fails", () => {
  test.each([
    ["while the file is sent", "up", 30_000],
    ["before the answer has come", "down", 0],
    ["in the middle of the answer", "down", 700],
  ] as const)("%s, an upload is sent again and stored once", async (_when, direction, afterBytes) => {
    await withSite({}, async (site) => {
      const line = await startS3Proxy(Number(new URL(site.origin).port));
      try {
        line.cut({ direction, afterBytes, times: 1 });
        const source = openable(photo);
        const client = createImagesClient({ baseUrl: `${line.endpoint}/img` });
        const totals = new Set<number>();
        let last = 0;
        const { id, pin } = await client.upload(source, {
          onProgress: ({ sentBytes, totalBytes }) => {
            totals.add(totalBytes);
            last = sentBytes;
          },
        });
        expect([line.cuts(), source.opened()]).toEqual([1, 2]);
        expect(await idsIn(site)).toEqual([id]);
        expect([...totals]).toEqual([last]);
        await client.remove(id, pin);
      } finally {
        await line.close();
      }
    });
  });

  test("an upload that may not be repeated says so with status 0", async () => {
    await withSite({}, async (site) => {
      const line = await startS3Proxy(Number(new URL(site.origin).port));
      try {
        line.cut({ direction: "up", afterBytes: 10_000 });
        const client = createImagesClient({ baseUrl: `${line.endpoint}/img`, maxRetries: 0 });
        const error = await refusalOf(client.upload(fileOf(photo)));
        expect(error).toMatchObject({ status: 0, title: "No reply", retryAfterMs: null });
        expect(error.detail).toContain(line.endpoint);
        expect(error.cause).toBeInstanceOf(Error);
        expect(await idsIn(site)).toEqual([]);
      } finally {
        await line.close();
      }
    });
  });

  test("a source that fails, or is not as long as it says, ends the upload as it is", async () => {
    await withSite({}, async (site) => {
      const client = createImagesClient({ baseUrl: site.base });
      const broken = new Error("the disk is gone");
      let opened = 0;
      const failing = openable(photo, {
        stream() {
          opened++;
          return new ReadableStream({
            start: (controller) => controller.enqueue(new Uint8Array(100)),
            pull: (controller) => controller.error(broken),
          });
        },
      });
      await expect(client.upload(failing)).rejects.toBe(broken);
      expect(opened).toBe(1);
      for (const size of [photo.length - 1, photo.length + 1]) {
        await expect(client.upload(openable(photo, { size }))).rejects.toThrow(`The source returned`);
      }
      const listener = new Error("the listener's own");
      const onProgress = () => {
        throw listener;
      };
      await expect(client.upload(fileOf(photo), { onProgress })).rejects.toBe(listener);
      expect(await idsIn(site)).toEqual([]);
    });
  });
});

test("an upload of 200 MB is never held in memory", { timeout: 120_000 }, async () => {
  let received = 0;
  const server = createHttpServer((req, res) => {
    req.on("data", (chunk: Buffer) => {
      received += chunk.length;
    });
    req.on("end", () => res.writeHead(418).end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  try {
    const script = fileURLToPath(new URL("client/upload-large.mjs", import.meta.url));
    const args = ["--expose-gc", script, `http://127.0.0.1:${address.port}`, "200000000"];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { status, peakBytes } = JSON.parse(stdout);
    expect([status, received > 200_000_000]).toEqual([418, true]);
    expect(peakBytes).toBeLessThan(60_000_000);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

describe("a server that reads nothing", () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.pause();
    socket.on("error", () => {});
  });
  let baseUrl: string;
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(address !== null && typeof address === "object");
    baseUrl = `http://127.0.0.1:${address.port}`;
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  test("is sent a large file as it takes it, and hears of an abort at once", async () => {
    const chunk = new Uint8Array(256 * 1024);
    const size = 800 * chunk.length;
    let [given, opened] = [0, 0];
    let isCancelled = false;
    const source = openable(photo, {
      size,
      stream() {
        opened++;
        return new ReadableStream({
          pull(controller) {
            given += chunk.length;
            controller.enqueue(chunk);
          },
          cancel() {
            isCancelled = true;
          },
        });
      },
    });
    const abort = new AbortController();
    const reason = new Error("changed my mind");
    let last = { sentBytes: 0, totalBytes: 0 };
    const upload = createImagesClient({ baseUrl }).upload(source, {
      signal: abort.signal,
      onProgress: (progress) => {
        last = progress;
      },
    });
    upload.catch(() => {});
    await expect.poll(() => given, { timeout: 20_000 }).toBeGreaterThan(chunk.length);
    // Until what the operating system holds for a connection is full, and no more is asked for.
    let before = -1;
    await expect
      .poll(
        () => {
          const isStill = given === before;
          before = given;
          return isStill;
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe(true);
    expect(given).toBeLessThan(size / 4);
    expect(last.totalBytes).toBeGreaterThan(size);
    expect(last.sentBytes).toBeLessThanOrEqual(given + 1000);
    const [socket] = sockets;
    assert.ok(socket);
    const closed = once(socket, "close");
    abort.abort(reason);
    await expect(upload).rejects.toBe(reason);
    // What was sent is still there to be read, and then the end.
    socket.resume();
    await closed;
    expect([isCancelled, opened]).toEqual([true, 1]);
  });

  test("does not keep an abort from ending an upload whose source gives nothing", async () => {
    const source = openable(photo, {
      stream: () => new ReadableStream({ pull: () => new Promise(() => {}) }),
    });
    const signal = AbortSignal.timeout(100);
    const upload = createImagesClient({ baseUrl }).upload(source, { signal });
    const error = await upload.catch((error) => error);
    expect([error.name, error === signal.reason]).toEqual(["TimeoutError", true]);
  });
});
