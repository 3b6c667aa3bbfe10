import { createFakeRenderer } from "@outrigger/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { created, createSite, eventually, type SiteOptions } from "../../test/image-site.ts";
import { anotherProcess, createLifeSite, DAY, HOUR, readsOf, statusesOf } from "../../test/life-site.ts";
import { tapStore } from "../../test/tapped-store.ts";
import type { Logger } from "../contracts/logger.ts";
import type { Observer } from "../contracts/observer.ts";
import { ServiceError } from "../errors.ts";
import { createMemoryBlobStore } from "../stores/memory/memory-blob-store.ts";
import type { ImageSummary } from "./record/image-record.ts";

/** A site that records the calls of its hooks, for all its processes. */
function hookedSite(options: SiteOptions = {}) {
  const told: string[] = [];
  const name = ({ id }: ImageSummary) => id;
  const site = createLifeSite({
    onStored: (image) => told.push(`stored ${name(image)}`),
    onRemoved: (image, why) => told.push(`${why} ${name(image)}`),
    ...options,
  });
  return { site, told };
}

describe("onStored", () => {
  test("onStored gets the summary of an image once, as soon as the image can be served", async () => {
    const onStored = vi.fn();
    const site = createLifeSite({ onStored, authorize: () => ({ owner: "anna" }) });
    const headers = { "idempotency-key": "a" };
    const { id } = created(await site.create({ headers }));
    expect(created(await site.create({ headers })).id).toBe(id);
    expect(onStored.mock.calls).toEqual([
      [
        {
          id,
          name: "picture.png",
          description: null,
          type: "image/png",
          size: 34,
          owner: "anna",
          createdAt: site.clock.now,
          expiresAt: site.clock.now + DAY,
        },
      ],
    ]);
  });

  test("onStored gets an image answered with 202 once it is ready, and never a rejected one", async () => {
    const renderer = createFakeRenderer();
    const { site, told } = hookedSite({ renderer });
    const later = { headers: { prefer: "respond-async" } };
    const first = created(await site.create(later));
    const second = created(await site.create(later));
    const admitting = await renderer.next();
    (await renderer.next()).refuse(new ServiceError("unsupported_media", "Its pixels end early."));
    await eventually(async () =>
      expect((await site.send("GET", `/api/images/${second.id}.json`)).status).toBe(404),
    );
    expect(told).toEqual([]);
    admitting.accept();
    await eventually(() => expect(told).toEqual([`stored ${first.id}`]));
  });
});

describe("onRemoved", () => {
  test("onRemoved gets each removed image and the reason exactly once, whichever process removes it", async () => {
    const { site, told } = hookedSite({ tombstoneDays: 1 });
    const other = anotherProcess(site);
    const images = await Promise.all(Array.from({ length: 4 }, async () => created(await site.create())));
    const [deleted, removed, withheld, expired] = images.map(({ id, pin }) => ({ id, pin }));
    told.length = 0;
    const search = `pin=${deleted?.pin}`;
    await site.send("DELETE", `/api/images/${deleted?.id}.json`, { search });
    await other.send("DELETE", `/api/images/${deleted?.id}.json`, { search });
    await other.images.remove(String(removed?.id));
    const deleteAfter = new Date(site.clock.now + HOUR);
    await site.images.withhold(String(withheld?.id), { reason: "By order of the court.", deleteAfter });
    // An event waits for the removal of the one before, if another process delivered that.
    await eventually(() => expect(told).toEqual([`deleted ${deleted?.id}`, `deleted ${removed?.id}`]));
    told.length = 0;
    site.clock.now += HOUR;
    await Promise.all([site.images.sweep(), other.images.sweep()]);
    expect(told).toEqual([`withheld ${withheld?.id}`]);
    told.length = 0;
    site.clock.now += DAY;
    await Promise.all([
      statusesOf(site, readsOf(String(expired?.id))),
      statusesOf(other, readsOf(String(expired?.id))),
      site.images.sweep(),
      other.images.sweep(),
    ]);
    expect(told).toEqual([`expired ${expired?.id}`]);
    site.clock.now += DAY;
    await site.images.sweep();
    expect(told).toHaveLength(1);
  });
});

describe("the logger", () => {
  function createLogger() {
    const lines: string[] = [];
    const log = (level: string) => (fields: object, message: string) =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
    const logger: Logger = { info: log("info"), warn: log("warn"), error: log("error") };
    return { lines, logger };
  }

  test("the logger gets the events of images, and never a PIN, even when calls fail", async () => {
    const { lines, logger } = createLogger();
    let isBroken = false;
    const store = tapStore(createMemoryBlobStore(), ({ method }) => {
      if (isBroken && method !== "get") throw new ServiceError("store_unavailable", "No answer.");
    });
    const site = createSite({
      ...{ store, logger, sweepEveryMs: false, asyncAfterMs: false },
      renderer: createFakeRenderer(({ accept }) => accept()),
    });
    // Without onError, failures go to the logger.
    const quiet = createLifeSite({ store, logger, clock: site.clock, onError: undefined as never });
    const { id, pin } = created(await quiet.create());
    const path = `/api/images/${id}.json`;
    await quiet.images.withhold(id, { reason: "By order of the court." });
    await quiet.images.release(id);
    const search = `pin=${pin}`;
    await quiet.send("PATCH", path, { search, fields: { name: "Renamed" } });
    await quiet.send("GET", `/${id}/edit`, { search });
    isBroken = true;
    expect((await quiet.send("PATCH", path, { search, fields: { name: "x" } })).status).toBe(503);
    expect((await quiet.send("DELETE", path, { headers: { "x-service-image-pin": pin } })).status).toBe(503);
    isBroken = false;
    expect((await quiet.send("DELETE", path, { fields: { pin } })).status).toBe(204);
    const said = lines.map((line) => line.split(" {")[0]);
    expect(said).toEqual([
      "info new storage",
      "info image stored",
      "info image withheld",
      "info image released",
      "error failed",
      "error failed",
      "info image removed",
    ]);
    expect(lines.every((line, index) => [0, 4, 5].includes(index) || line.includes(id))).toBe(true);
    expect(lines.join("\n")).not.toContain(pin);
  });
});

describe("without onError and logger", () => {
  afterEach(() => vi.restoreAllMocks());

  test("failures go to the console, without the request: its address may contain a PIN", async () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    let isBroken = false;
    const failure = new ServiceError("store_unavailable", "No answer.");
    const store = tapStore(createMemoryBlobStore(), ({ method }) => {
      if (isBroken && method === "put") throw failure;
    });
    const site = createLifeSite({ store, onError: undefined as never });
    const { id, pin } = created(await site.create());
    isBroken = true;
    const search = `pin=${pin}`;
    await site.send("PATCH", `/api/images/${id}.json`, { search, fields: { name: "x" } });
    expect(written.mock.calls).toEqual([[failure]]);
  });
});

describe("failing code of the host changes no reply", () => {
  const failure = new Error("a bug of the host's");
  const throwing = (): never => {
    throw failure;
  };
  const rejecting = async (): Promise<never> => throwing();
  const logger = (fail: () => unknown) => ({ info: fail, warn: fail, error: fail });
  // `undefined` counts as absent: failures go to the logger.
  const unheard = { logger: logger(throwing), onError: undefined } as unknown as SiteOptions;
  const observer = (observe: Observer["observe"]): Observer => ({
    observe,
    served: throwing,
    gauge: throwing,
  });

  test.each<[string, SiteOptions]>([
    ["a logger that throws", { logger: logger(throwing) }],
    ["a logger that rejects", { logger: logger(rejecting) }],
    ["a logger that throws without an onError", unheard],
    ["an onError that throws", { logger: logger(throwing), onError: throwing }],
    ["an onError that rejects", { logger: logger(throwing), onError: rejecting }],
    ["onStored and onRemoved that throw", { onStored: throwing, onRemoved: throwing }],
    ["onStored and onRemoved that reject", { onStored: rejecting, onRemoved: rejecting }],
    ["an observer that throws", { observer: observer(throwing) }],
    ["an observer that rejects before the work", { observer: observer(rejecting) }],
    [
      "an observer that rejects after the work",
      {
        observer: observer(async (_operation, work) => {
          await work();
          throw failure;
        }),
      },
    ],
  ])("replies are the same with %s", async (_what, options) => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const site = createLifeSite(options);
    const forwarded = { headers: { "x-forwarded-for": "192.0.2.7" } };
    const answer = await site.create(forwarded);
    const { id, pin } = created(answer);
    const search = `pin=${pin}`;
    const path = `/api/images/${id}`;
    const statuses = [
      answer.status,
      (await site.send("GET", `${path}.png`)).status,
      (await site.send("GET", `${path}.webp`)).status,
      (await site.send("PATCH", `${path}.json`, { search: `${search}&name=New` })).status,
      (await site.send("DELETE", `${path}.json`, { search })).status,
      (await site.send("GET", `${path}.png`)).status,
      (await site.send("GET", "/api/images/none.png")).status,
    ];
    expect(statuses).toEqual([201, 200, 200, 200, 204, 410, 404]);
    await site.images.close();
    const wasReported = site.errors.length + printed.mock.calls.length > 0;
    expect([...new Set(site.errors)]).toEqual(site.errors.length > 0 ? [failure] : []);
    expect(wasReported).toBe(true);
  });
});
