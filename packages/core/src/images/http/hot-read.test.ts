import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCall } from "../../../test/calls.ts";
import {
  answerOf,
  created,
  type ImageSite,
  readyAnswerOf,
  type SiteOptions,
} from "../../../test/image-site.ts";
import { anotherProcess, createLifeSite, DAY, STORES } from "../../../test/life-site.ts";
import type { Observer } from "../../contracts/observer.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createMemoryRateLimiter } from "../../stores/memory/memory-rate-limiter.ts";
import type { Authorize, Decision } from "../authorize.ts";

const RUNS = 3000;
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

const ORIGIN = "https://app.example";
const DECISIONS: Record<string, Decision | Error> = {
  nothing: undefined,
  yes: true,
  owner: { owner: "ada" },
  no: false,
  failure: new Error("the host's database is away"),
};

/** Decides by a header, at once or with a promise. */
function deciding(asked: string[]): Authorize {
  return (call, action) => {
    if (action !== "read") return undefined;
    const { "x-decision": name = "nothing", "x-later": later } = call.headers;
    asked.push(String(name));
    const decision = DECISIONS[String(name)];
    if (later !== undefined)
      return decision instanceof Error ? Promise.reject(decision) : Promise.resolve(decision);
    if (decision instanceof Error) throw decision;
    return decision;
  };
}

/** Reports what it has seen, as text. */
function noting(seen: string[]): Observer {
  const note = (kind: string, ...more: unknown[]) => seen.push([kind, ...more].join(" "));
  return {
    async observe(operation, work, outcomeOf) {
      const result = await work();
      if (operation.kind === "request")
        note("request", operation.method, operation.route, outcomeOf?.(result));
      return result;
    },
    served: (from) => note("served", from),
    answered({ operation, status, from }) {
      if (from !== null) note("served", from);
      note("request", operation.method, operation.route, status);
    },
    gauge: () => () => {},
  };
}

describe.each<[string, SiteOptions]>([
  ["CORS for every origin", { cors: { origins: "*" } }],
  ["CORS for listed origins", { cors: { origins: [ORIGIN], credentials: true } }],
  ["a limit on reads", { rateLimits: { reads: 20 } }],
  ["a host that decides", {}],
])("with %s and an observer", (name, options) => {
  test("a service answers generated requests the same whether asked for replies at hand or not, and counts them the same", async () => {
    const store = createMemoryBlobStore();
    const { site, id } = await siteWithImage({ store });
    const tag = String((await site.send("GET", `/api/images/${id}.png`)).headers.ETag);
    const twin = () => {
      const [seen, asked]: [string[], string[]] = [[], []];
      const authorize = name === "a host that decides" ? { authorize: deciding(asked) } : {};
      const { images } = site.another({ ...options, ...authorize, observer: noting(seen) });
      return { images, seen, asked };
    };
    const [usual, fast] = [twin(), twin()];
    let atHand = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(requests(id, [tag, '"other"']), plainRequests(id)),
        clients,
        async (request, client) => {
          const make = () =>
            createCall(request.method, request.path, {
              search: request.search,
              headers: { ...request.headers, ...client.headers },
              clientIp: client.clientIp,
            });
          const call = make();
          const ready = fast.images.answerNow?.(call);
          if (ready !== undefined) atHand++;
          const answer =
            ready === undefined ? await answerOf(await fast.images.handle(call)) : readyAnswerOf(ready);
          const expected = await answerOf(await usual.images.handle(make()));
          if (/json/.test(String(expected.headers["Content-Type"]))) {
            expect(answer.status).toBe(expected.status);
          } else {
            expect(answer).toEqual({ ...expected, json: {} });
          }
          expect([fast.seen, fast.asked]).toEqual([usual.seen, usual.asked]);
          for (const { seen, asked } of [usual, fast]) seen.length = asked.length = 0;
        },
      ),
      { numRuns: RUNS / 10 },
    );
    expect(atHand).toBeGreaterThan(RUNS / 250);
  });
});

test("a host that has not decided at once is asked once, and its decision applies", async () => {
  const asked: string[] = [];
  const { site, id } = await siteWithImage({ authorize: deciding(asked) });
  await site.send("GET", `/api/images/${id}.png`);
  for (const [decision, status] of [
    ["yes", 200],
    ["no", 403],
    ["failure", 500],
  ] as const) {
    for (const later of [{}, { "x-later": "1" }]) {
      asked.length = 0;
      const call = createCall("GET", `/api/images/${id}.png`, {
        headers: { "x-decision": decision, ...later },
      });
      const reply = site.images.answerNow?.(call) ?? (await site.images.handle(call));
      expect([reply?.status, asked]).toEqual([status, [decision]]);
    }
  }
});

test("an observer that cannot report answered requests observes every request", async () => {
  const seen: string[] = [];
  const { answered: _, ...observer } = noting(seen);
  const { site, id } = await siteWithImage({ observer });
  await site.send("GET", `/api/images/${id}.png`);
  expect(readNow(site, `/api/images/${id}.png`)).toBeUndefined();
});

test("nothing is at hand in front of a host that decides, or with a limiter that counts elsewhere", async () => {
  const { consumeNow: _, ...elsewhere } = createMemoryRateLimiter();
  const options = [{ authorize: () => undefined }, { rateLimits: { reads: 100 }, rateLimiter: elsewhere }];
  for (const each of options) {
    const { site, id } = await siteWithImage(each);
    await site.send("GET", `/api/images/${id}.png`);
    const call = createCall("GET", `/api/images/${id}.png`);
    expect(site.images.answerNow?.(call, true)).toBeUndefined();
  }
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

/** Reads of one picture that differ in nothing. */
const plainRequests = (id: string) =>
  fc.record({
    method: fc.constantFrom("GET", "HEAD"),
    path: fc.constant(`/api/images/${id}.png`),
    search: fc.constant(""),
    headers: fc.constant({}),
  });

/** What differs between clients for a host, CORS and limits. */
const clients = fc.record({
  clientIp: fc.constantFrom(...Array.from({ length: 40 }, (_, index) => `192.0.2.${index}`)),
  headers: fc.record(
    {
      origin: fc.constantFrom(ORIGIN, "https://other.example", "null"),
      "x-decision": fc.constantFrom("nothing", "nothing", "yes", "owner", "no"),
      "x-later": fc.constant("1"),
    },
    { requiredKeys: [] },
  ),
});

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
      accept: fc.constantFrom("*/*", "text/html", "image/avif", "image/webp, */*;q=0.5"),
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
  });
}
