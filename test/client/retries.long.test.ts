import { openAsBlob } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createImagesClient } from "@outrigger/client";
import { createMemoryRateLimiter, ServiceError } from "@outrigger/core";
import { describe, expect, test } from "vitest";
import { jpegPhoto } from "../support/pictures.ts";
import { withSite } from "../support/service.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { frontForAll, idsIn, NO_IMAGE, photo, refusalOf } from "./image-client.ts";
import { fileOf } from "./sources.ts";

describe("Retry-After", () => {
  const fronted = frontForAll();
  const { client } = fronted;

  test.each([
    ["a number of seconds", 429, () => "1"],
    ["a date", 503, () => new Date(Date.now() + 2000).toUTCString()],
  ])("the client retries after %s of Retry-After and not earlier", async (_what, status, retryAfter) => {
    const header = retryAfter();
    fronted.front.interject({ status, headers: { "Retry-After": header } });
    await client().upload(fileOf(photo));
    const [first, second] = fronted.front.requests;
    const earliestMs = header.endsWith("GMT") ? Date.parse(header) : (first?.atMs ?? 0) + 1000;
    expect(second?.atMs).toBeGreaterThan(earliestMs - 10);
    expect(fronted.front.requests).toHaveLength(2);
  });

  test("the client does not wait longer than a minute, and reports retryAfterMs", async () => {
    fronted.front.interject({ status: 429, headers: { "Retry-After": "61" } });
    expect(await refusalOf(client().get(NO_IMAGE))).toMatchObject({ status: 429, retryAfterMs: 61_000 });
    expect(fronted.front.requests).toHaveLength(1);
  });

  test("the client gives up after maxRetries retries", async () => {
    const later = { status: 429, headers: { "Retry-After": "0" } };
    fronted.front.interject(later, later, later);
    expect(await refusalOf(client({ maxRetries: 2 }).get(NO_IMAGE))).toMatchObject({ status: 429 });
    expect(fronted.front.requests).toHaveLength(3);
  });

  test("an abort ends the wait for a retry at once", async () => {
    const reason = new Error("no more");
    const abort = new AbortController();
    fronted.front.interject({ status: 503, headers: { "Retry-After": "60" } });
    const call = client().get(NO_IMAGE, { signal: abort.signal });
    await expect.poll(() => fronted.front.requests.length).toBe(1);
    setTimeout(() => abort.abort(reason), 50);
    await expect(call).rejects.toBe(reason);
    await expect(client().get(NO_IMAGE, { signal: abort.signal })).rejects.toBe(reason);
    await expect(client().upload(fileOf(photo), { signal: abort.signal })).rejects.toBe(reason);
    expect(fronted.front.requests).toHaveLength(1);
  });
});

test("upload waits after the 429 of the service, which interrupts a file in the middle", async () => {
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

test("upload waits after the 503 of the service", async () => {
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

describe("uploads over a failing network", () => {
  test.each([
    ["while the file is sent", "up", 30_000],
    ["before the answer arrives", "down", 0],
    ["in the middle of the answer", "down", 700],
  ] as const)(
    "an upload whose connection breaks %s is sent again and stored once",
    async (_when, direction, afterBytes) => {
      await withSite({}, async (site) => {
        const line = await startTcpProxy(Number(new URL(site.origin).port));
        try {
          line.cut({ direction, afterBytes, times: 1 });
          const client = createImagesClient({ baseUrl: `${line.endpoint}/img` });
          const totals = new Set<number>();
          let last = 0;
          const { id, pin } = await client.upload(fileOf(photo), {
            onProgress: ({ sentBytes, totalBytes }) => {
              totals.add(totalBytes);
              last = sentBytes;
            },
          });
          expect(line.cuts()).toBe(1);
          expect(await idsIn(site)).toEqual([id]);
          expect([...totals]).toEqual([last]);
          await client.remove(id, pin);
        } finally {
          await line.close();
        }
      });
    },
  );

  test("an upload without retries rejects with status 0 when the connection breaks", async () => {
    await withSite({}, async (site) => {
      const line = await startTcpProxy(Number(new URL(site.origin).port));
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

  test("a file that has changed, and a listener that throws, end the upload without a retry", async () => {
    await withSite({}, async (site) => {
      const client = createImagesClient({ baseUrl: site.base });
      const directory = await mkdtemp(join(tmpdir(), "outrigger-changed-"));
      const path = join(directory, "photo.jpg");
      await writeFile(path, photo);
      const changed = await openAsBlob(path, { type: "image/jpeg" });
      await writeFile(path, "another file");
      await expect(client.upload(changed)).rejects.toMatchObject({ name: "NotReadableError" });
      await rm(directory, { recursive: true });
      const listener = new Error("the listener's own");
      const onProgress = () => {
        throw listener;
      };
      await expect(client.upload(fileOf(photo), { onProgress })).rejects.toBe(listener);
      expect(await idsIn(site)).toEqual([]);
    });
  });
});
