import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCall } from "../../../test/calls.ts";
import { created, type ImageSite, type SiteOptions } from "../../../test/image-site.ts";
import { anotherProcess, createLifeSite, DAY, STORES } from "../../../test/life-site.ts";

const RUNS = 10_000;
const LONG_AGO = "Thu, 01 Jan 2015 00:00:00 GMT";
const LATER = "Thu, 01 Jan 2099 00:00:00 GMT";

async function siteWithImage(options: SiteOptions = {}): Promise<{ site: ImageSite; id: string }> {
  const site = createLifeSite(options);
  const { id } = created(await site.create());
  return { site, id };
}

const readNow = (site: ImageSite, path: string, options = {}) =>
  site.images.answerNow?.(createCall("GET", path, options));

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("a reply at hand has the status, headers and bytes of the usual path, for generated requests", async () => {
    const { site, id } = await siteWithImage({ store: createStore() });
    const first = await site.send("GET", `/api/images/${id}.png`, { search: "resize=8x8" });
    const tags = [String(first.headers.ETag), `W/${first.headers.ETag}`, '"other"', "*"];
    let atHand = 0;
    await fc.assert(
      fc.asyncProperty(requests(id, tags), async ({ method, path, search, headers, lateMs }) => {
        site.clock.now += lateMs;
        const options = { search, headers };
        if (readOrNothing(site, method, path, options)) atHand++;
        // The site compares both paths.
        await site.send(method, path, options);
      }),
      { numRuns: RUNS },
    );
    // If every request took the usual path, the test would prove nothing.
    expect(atHand).toBeGreaterThan(RUNS / 40);
  }, 120_000);

  test("a read is at hand once it was answered, and no longer after the image has ended", async () => {
    const { site, id } = await siteWithImage({ store: createStore() });
    const path = `/api/images/${id}.png`;
    expect(readNow(site, path, { search: "resize=9x9" })).toBeUndefined();
    await site.send("GET", path, { search: "resize=9x9" });
    expect(readNow(site, path, { search: "resize=9x9" })?.status).toBe(200);
    expect(readNow(site, path, { search: "resize=9x8" })).toBeUndefined();
    site.clock.now += DAY;
    expect(readNow(site, path, { search: "resize=9x9" })).toBeUndefined();
    expect((await site.send("GET", path, { search: "resize=9x9" })).status).toBe(410);
  });

  test("an image that another process has deleted is not at hand", async () => {
    const { site, id } = await siteWithImage({ store: createStore() });
    const path = `/api/images/${id}.png`;
    await site.send("GET", path);
    expect(readNow(site, path)?.status).toBe(200);
    await anotherProcess(site).images.remove(id);
    expect(readNow(site, path)).toBeUndefined();
  });
});

test.each<[string, SiteOptions]>([
  ["a host that decides about each read", { authorize: () => undefined }],
  ["a limit on reads", { rateLimits: { reads: 100 } }],
  ["CORS", { cors: { origins: "*" } }],
])("nothing is at hand with %s", async (_name, options) => {
  const { site, id } = await siteWithImage(options);
  await site.send("GET", `/api/images/${id}.png`);
  expect(readNow(site, `/api/images/${id}.png`)).toBeUndefined();
});

test("a request that must be refused is not at hand: no TLS, a wrong host, a closed service", async () => {
  const { site, id } = await siteWithImage({ allowedHosts: ["pictures.example"] });
  const path = `/api/images/${id}.png`;
  await site.send("GET", path);
  const call = createCall("GET", path);
  expect(site.images.answerNow?.(call)?.status).toBe(200);
  expect(site.images.answerNow?.({ ...call, secure: false })).toBeUndefined();
  expect(site.images.answerNow?.({ ...call, origin: "https://other.example" })).toBeUndefined();
  await site.images.close();
  expect(site.images.answerNow?.(call)).toBeUndefined();
});

function readOrNothing(site: ImageSite, method: string, path: string, options: object): boolean {
  return site.images.answerNow?.(createCall(method, path, options)) !== undefined;
}

/** Reads of one image, in every form that may make a difference. */
function requests(id: string, tags: readonly string[]) {
  const dates = fc.constantFrom(LONG_AGO, LATER, "Thu", "");
  const header = fc.record(
    {
      "if-none-match": fc.constantFrom(...tags),
      "if-match": fc.constantFrom(...tags),
      "if-modified-since": dates,
      "if-unmodified-since": dates,
      range: fc.constantFrom("bytes=0-3", "bytes=-2", "lines=1", "bytes=999999-"),
      "if-range": fc.constantFrom(...tags, LATER),
      accept: fc.constantFrom("*/*", "text/html", "image/avif"),
    },
    { requiredKeys: [] },
  );
  return fc.record({
    method: fc.constantFrom("GET", "GET", "GET", "HEAD", "OPTIONS", "PUT"),
    path: fc.constantFrom(
      ...["png", "png", "jpg", "jpg", "png", "jpeg", "gif", "json", "pn", "png/", "webp", "auto"].map(
        (s) => `/api/images/${id}.${s}`,
      ),
      `/${id}`,
    ),
    search: fc.constantFrom(
      "",
      "",
      "resize=8x8",
      "resize=8x8",
      "resize=x4",
      "resize=0x0",
      "convert=low",
      "a=%ff",
    ),
    headers: fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 3, arbitrary: header }),
    lateMs: fc.constantFrom(0, 0, 0, 1, 700),
  });
}
