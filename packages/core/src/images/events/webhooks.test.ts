import type { ServerResponse } from "node:http";
import { describe, expect, test, vi } from "vitest";
import { SECRET, startReceiver, webhooksTo } from "../../../test/event-site.ts";
import { created, eventually, type SiteOptions, storedRecord } from "../../../test/image-site.ts";
import {
  anotherProcess,
  createDiskStore,
  createHastyDiskStore,
  createLifeSite,
  DAY,
  entriesOf,
  HOUR,
  MINUTE,
  SECOND,
} from "../../../test/life-site.ts";

/** A service on a disk, where processes look for due events every second. */
function createEventSite(options: SiteOptions) {
  return createLifeSite({ store: createHastyDiskStore(), ...options });
}

/** Waits until no event of the image waits. */
async function delivered(site: ReturnType<typeof createLifeSite>, id: string) {
  await eventually(async () => expect((await storedRecord(site.store, id))?.outbox).toBeUndefined());
}

describe("webhooks", () => {
  test("a receiver gets the life of an image in order, signed by Standard Webhooks, and the record is as without them", async () => {
    const receiver = await startReceiver();
    const site = createEventSite({ webhooks: webhooksTo(receiver), authorize: () => ({ owner: "anna" }) });
    const { id } = created(await site.create());
    await site.images.withhold(id, { reason: "By order of the court.", authority: "https://example.com/1" });
    await site.images.remove(id);
    await eventually(() =>
      expect(receiver.told()).toEqual([`image.stored ${id}`, `image.withheld ${id}`, `image.removed ${id}`]),
    );
    const [stored, withheld, removed] = receiver.events;
    expect(stored?.headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": expect.stringMatching(/^evt_[\w-]{22}$/),
      "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
    expect(JSON.parse(stored?.text ?? "")).toEqual({
      type: "image.stored",
      timestamp: new Date(site.clock.now).toISOString(),
      data: {
        image: {
          ...{ id, name: "picture.png", description: null, type: "image/png", size: 34, owner: "anna" },
          createdAt: new Date(site.clock.now).toISOString(),
          expiresAt: new Date(site.clock.now + DAY).toISOString(),
        },
      },
    });
    expect(withheld?.data).toMatchObject({
      ...{ reason: "By order of the court.", authority: "https://example.com/1", deleteAfter: null },
    });
    expect(removed?.data).toMatchObject({ why: "deleted", image: { name: "picture.png", owner: "anna" } });
    await delivered(site, id);
    expect(await entriesOf(site.store, "events")).toEqual([]);
  });

  test("without a hook, a subscriber and a webhook, a record has no event and the store no entry", async () => {
    const site = createLifeSite();
    const { id } = created(await site.create());
    await site.images.withhold(id, { reason: "By order of the court." });
    expect(await storedRecord(site.store, id)).not.toHaveProperty("outbox");
    expect(await entriesOf(site.store, "events")).toEqual([]);
  });

  test("an event is sent again after 5 s, 30 s and 5 min, with the same ID, until the receiver answers 2xx", async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end("no"));
    const site = createEventSite({ webhooks: webhooksTo(receiver) });
    const { id } = created(await site.create());
    for (const [tries, waitMs] of [5 * SECOND, 30 * SECOND, 5 * MINUTE].entries()) {
      await eventually(async () =>
        expect((await storedRecord(site.store, id))?.outbox).toMatchObject({
          retries: {
            [String((await storedRecord(site.store, id))?.outbox?.events[0]?.to[0])]: {
              tries: tries + 1,
              at: site.clock.now + waitMs,
            },
          },
        }),
      );
      expect(receiver.events).toHaveLength(tries + 1);
      if (tries === 2) receiver.answer = (response) => response.writeHead(204).end();
      site.clock.now += waitMs;
    }
    await eventually(() => expect(receiver.events).toHaveLength(4));
    expect(new Set(receiver.events.map((event) => event.id)).size).toBe(1);
    await delivered(site, id);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ["hangs", () => {}],
    ["answers 500", (response) => response.writeHead(500).end()],
    ["drops the connection", (response) => response.destroy()],
  ])(
    "a receiver that %s delays neither another receiver, a subscriber, nor another image",
    async (_what, answer) => {
      const [bad, good] = [await startReceiver(answer), await startReceiver()];
      const site = createEventSite({ webhooks: webhooksTo(bad, good) });
      const heard: string[] = [];
      site.images.events.subscribe(({ type, image }) => heard.push(`${type} ${image.id}`));
      const first = created(await site.create()).id;
      await site.images.remove(first);
      const second = created(await site.create()).id;
      const all = [`image.stored ${first}`, `image.removed ${first}`, `image.stored ${second}`];
      await eventually(() => {
        expect(heard).toEqual(all);
        expect([...good.told()].sort()).toEqual([...all].sort());
        expect(bad.told()).toEqual([`image.stored ${first}`, `image.stored ${second}`]);
      });
    },
  );

  test("a redirect is a failure: a receiver cannot send the event to another host", async () => {
    const inner = await startReceiver();
    const receiver = await startReceiver((response) =>
      response.writeHead(307, { location: inner.url }).end(),
    );
    const site = createEventSite({ webhooks: webhooksTo(receiver) });
    const { id } = created(await site.create());
    await eventually(async () =>
      expect(Object.values((await storedRecord(site.store, id))?.outbox?.retries ?? {})).toMatchObject([
        { tries: 1 },
      ]),
    );
    expect(inner.events).toEqual([]);
  });

  test("an address outside the public internet gets nothing, unless internalHosts names its host", async () => {
    const receiver = await startReceiver();
    const warn = vi.fn();
    const site = createLifeSite({
      webhooks: { endpoints: [{ url: receiver.url.replace("http:", "https:"), secret: SECRET }] },
      logger: { info() {}, warn, error() {} },
    });
    created(await site.create());
    await eventually(() => expect(warn).toHaveBeenCalled());
    expect(JSON.stringify(warn.mock.calls)).toContain("no public address");
    expect(receiver.events).toEqual([]);
  });

  test("an event is given up after 410, or after 7 days, and counted", async () => {
    const receiver = await startReceiver((response) => response.writeHead(410).end());
    const site = createEventSite({ webhooks: webhooksTo(receiver) });
    const { id } = created(await site.create());
    await eventually(async () =>
      expect(await site.images.undelivered()).toMatchObject({ waiting: 0, dead: 1 }),
    );
    receiver.answer = (response) => response.writeHead(503).end();
    await site.images.remove(id);
    await eventually(() => expect(receiver.events).toHaveLength(2));
    await eventually(async () =>
      expect(Object.keys((await storedRecord(site.store, id))?.outbox?.retries ?? {})).toHaveLength(1),
    );
    site.clock.now += HOUR;
    expect(await site.images.undelivered()).toMatchObject({ waiting: 1, oldestAt: site.clock.now - HOUR });
    site.clock.now += 7 * DAY;
    await eventually(async () =>
      expect(await site.images.undelivered()).toMatchObject({ waiting: 0, dead: 2 }),
    );
    expect(site.errors.map(String)).toEqual([
      expect.stringContaining(`(image.stored of image ${id}) was given up`),
      expect.stringContaining(`(image.removed of image ${id}) was given up`),
    ]);
  });

  test("the record of an image that is gone stays until its events are delivered", async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end());
    const site = createEventSite({ webhooks: webhooksTo(receiver), tombstoneDays: 0 });
    const { id } = created(await site.create());
    await site.images.remove(id);
    await eventually(() => expect(receiver.events).toHaveLength(1));
    site.clock.now += MINUTE;
    await site.images.sweep();
    expect(await storedRecord(site.store, id)).not.toBeNull();
    receiver.answer = (response) => response.writeHead(200).end();
    await eventually(() => expect(receiver.told().at(-1)).toBe(`image.removed ${id}`));
    await delivered(site, id);
    site.clock.now += HOUR;
    await site.images.sweep();
    expect(await storedRecord(site.store, id)).toBeNull();
  });

  test.each([
    ["another endpoint", 1],
    ["no endpoint", 0],
  ])(
    "events of an endpoint that was removed are given up after an hour if %s remains",
    async (_what, remaining) => {
      const old = await startReceiver((response) => response.writeHead(500).end());
      const others = [await startReceiver()].slice(0, remaining);
      const site = createEventSite({ webhooks: webhooksTo(old) });
      const { id } = created(await site.create());
      await eventually(() => expect(old.events).toHaveLength(1));
      await site.images.close();
      const next = anotherProcess(site, { webhooks: webhooksTo(...others) });
      site.clock.now += MINUTE;
      await eventually(async () => expect(await entriesOf(site.store, "events")).toHaveLength(1));
      expect((await storedRecord(site.store, id))?.outbox?.events).toHaveLength(1);
      site.clock.now += HOUR;
      await delivered(next, id);
      await eventually(async () => expect((await next.images.undelivered()).dead).toBe(1));
      expect(next.errors).toMatchObject([
        { message: expect.stringMatching(/given up: webhook-\w+ did not take it/) },
      ]);
    },
  );
});

describe("events of a process that died", () => {
  test.each([
    ["memory", undefined],
    ["a directory", () => createDiskStore()],
  ])("in %s, another process delivers them half a minute later, once", async (_store, open) => {
    const receiver = await startReceiver(() => {});
    const options: SiteOptions = {
      webhooks: webhooksTo(receiver),
      ...(open === undefined ? {} : { store: open() }),
    };
    const site = createLifeSite(options);
    const { id } = created(await site.create());
    await eventually(() => expect(receiver.events).toHaveLength(1));
    receiver.answer = (response) => response.writeHead(204).end();
    const other = anotherProcess(site);
    const third = anotherProcess(site);
    // The first process still waits for its answer, as one that died would.
    site.clock.now += 29 * SECOND;
    expect(receiver.events).toHaveLength(1);
    site.clock.now += 3 * SECOND;
    await eventually(() => expect(receiver.events).toHaveLength(2));
    await delivered(other, id);
    expect(receiver.events[0]?.id).toBe(receiver.events[1]?.id);
    await third.images.close();
  });
});

test.each([
  [
    "a URL without TLS",
    { url: "http://hooks.example/", secret: SECRET },
    /endpoints\.0\.url must be an https URL/,
  ],
  ["a URL with a password", { url: "https://a:b@hooks.example/", secret: SECRET }, /must have no user name/],
  [
    "a short secret",
    { url: "https://hooks.example/", secret: "whsec_c2hvcnQ=" },
    /endpoints\.0\.secret must be whsec_/,
  ],
  [
    "an unknown type",
    { url: "https://hooks.example/", secret: SECRET, types: ["image.moved"] },
    /types must be of image\.stored/,
  ],
])("createImages refuses a webhook with %s, and its message quotes no secret", (_what, endpoint, message) => {
  const make = () => createLifeSite({ webhooks: { endpoints: [endpoint] } });
  expect(make).toThrow(message);
  expect(make).toThrow(expect.objectContaining({ message: expect.not.stringContaining("c2hvcnQ") }));
});
