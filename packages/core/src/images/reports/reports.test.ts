import { assert, describe, expect, test } from "vitest";
import { createCall } from "../../../test/calls.ts";
import { created, eventually, type ImageSite, keysOf } from "../../../test/image-site.ts";
import { BROWSER, createLifeSite, DAY, entriesOf, HOUR, MINUTE, STORES } from "../../../test/life-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import { ServiceError } from "../../errors.ts";
import type { ImageReport } from "./reports.ts";

const API = "/api/reports.json";

async function reportsOf({ images }: ImageSite, state?: "open" | "decided"): Promise<ImageReport[]> {
  const found: ImageReport[] = [];
  for await (const report of images.reports.list({ state })) found.push(report);
  return found;
}

function report(site: ImageSite, fields: Record<string, string>, clientIp = "192.0.2.1") {
  return site.send("POST", API, { fields, clientIp });
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("a report gets a reference, is due after the hours, and joins the others of its image", async () => {
    const site = createLifeSite({ store: createStore(), reports: { hours: 24 } });
    const { id } = created(await site.create());
    const first = await report(site, {
      id,
      reason: "privacy",
      statement: "My\thouse.",
      contact: "ada@acme.example",
    });
    expect(first.status).toBe(201);
    expect(first.headers["Cache-Control"]).toBe("no-store");
    expect(first.json).toMatchObject({ id, dueAt: new Date(site.clock.now + DAY).toISOString() });
    expect(first.json.reference).toMatch(/^[2-9A-HJ-NP-Z]{10}$/);
    site.clock.now += HOUR;
    const second = await report(site, { id, reason: "copyright", statement: "My\u0000 photo." });
    expect(second.json).toMatchObject({ reference: first.json.reference, dueAt: first.json.dueAt });
    expect(await reportsOf(site, "open")).toEqual([
      {
        id,
        reference: first.json.reference,
        receivedAt: site.clock.now - HOUR,
        dueAt: site.clock.now - HOUR + DAY,
        count: 2,
        reasons: ["privacy", "copyright"],
        statements: ["My house.", "My photo."],
        contacts: ["ada@acme.example"],
        decision: null,
      },
    ]);
  });

  test("200 reports at once from 20 clients and two processes are all counted, with one text of each client", async () => {
    const site = createLifeSite({ store: createStore(), reports: true });
    const other = site.another();
    const { id } = created(await site.create());
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        report(
          at % 2 === 0 ? site : other,
          { id, reason: "other", statement: `No. ${at}` },
          `192.0.2.${at % 20}`,
        ),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    const [found] = await reportsOf(site);
    expect([found?.count, found?.statements.length]).toEqual([200, 20]);
    expect((await keysOf(site.store)).filter((key) => key.startsWith("reports/"))).toEqual([`reports/${id}`]);
  });

  test("withhold, remove and refuse decide the open report, and a later report opens the next", async () => {
    const site = createLifeSite({ store: createStore(), reports: true, inspect: () => "hold" });
    const [kept, gone, held] = [
      created(await site.create()).id,
      created(await site.create()).id,
      created(await site.create()).id,
    ];
    for (const id of [kept, gone]) await site.images.accept(id);
    for (const id of [kept, gone, held])
      expect((await report(site, { id, reason: "other" })).status).toBe(201);
    await site.images.withhold(kept, { reason: "By order." });
    await site.images.remove(gone);
    await site.images.refuse(held, "No.");
    const decided = await reportsOf(site, "decided");
    expect(new Map(decided.map(({ id, decision }) => [id, decision?.decision]))).toEqual(
      new Map([
        [kept, "withheld"],
        [gone, "removed"],
        [held, "removed"],
      ]),
    );
    expect(await reportsOf(site, "open")).toEqual([]);
    expect(await entriesOf(site.store, "reports")).toEqual([]);
    expect((await report(site, { id: kept, reason: "other" })).status).toBe(451);
    expect((await report(site, { id: gone, reason: "other" })).status).toBe(410);
    await site.images.release(kept);
    const again = await report(site, { id: kept, reason: "other" });
    expect(again.json.reference).not.toBe(decided.find(({ id }) => id === kept)?.reference);
    expect(await reportsOf(site, "open")).toHaveLength(1);
  });

  test("a contact is erased 90 days after the decision, and the report after a year, with its key once the image is forgotten", async () => {
    const site = createLifeSite({ store: createStore(), reports: true, defaultLifetimeMs: 300 * DAY });
    const { id } = created(await site.create());
    await report(site, { id, reason: "privacy", statement: "Mine.", contact: "ada@acme.example" });
    await site.images.reports.decide(id, { decision: "kept", note: "It is not.", by: "bea" });
    const decision = { decision: "kept", at: site.clock.now, note: "It is not.", by: "bea" };
    site.clock.now += 90 * DAY - 1;
    await site.images.sweep();
    expect(await reportsOf(site)).toMatchObject([{ contacts: ["ada@acme.example"], decision }]);
    site.clock.now += 1;
    await site.images.sweep();
    expect(await reportsOf(site)).toMatchObject([{ contacts: [], statements: ["Mine."], decision }]);
    site.clock.now += 275 * DAY;
    await site.images.sweep();
    expect(await reportsOf(site)).toEqual([]);
    // The image is forgotten by now.
    site.clock.now += 365 * DAY;
    await site.images.sweep();
    expect(await entriesOf(site.store, "erasures")).toEqual([]);
    expect((await site.store.list("reports/")).keys).toEqual([]);
  });

  test("an overdue report of an image that has ended is decided by the sweep; any other stays open", async () => {
    const site = createLifeSite({ store: createStore(), reports: true });
    const expiring = created(await site.create()).id;
    const living = created(
      await site.create({ search: `expiresAt=${new Date(site.clock.now + 9 * DAY).toISOString()}` }),
    ).id;
    for (const id of [expiring, living]) await report(site, { id, reason: "other" });
    site.clock.now += 2 * DAY;
    await site.images.sweep();
    expect((await reportsOf(site, "open")).map(({ id }) => id)).toEqual([living]);
    expect(await reportsOf(site, "decided")).toMatchObject([
      { id: expiring, decision: { decision: "removed" } },
    ]);
  });
});

test("overdue reports of living images do not keep those of ended ones from their decision", async () => {
  const site = createLifeSite({ reports: true, defaultLifetimeMs: 9 * DAY });
  const living = await Promise.all(Array.from({ length: 210 }, async () => created(await site.create()).id));
  const ended = created(
    await site.create({ search: `expiresAt=${new Date(site.clock.now + DAY).toISOString()}` }),
  ).id;
  for (const id of [...living, ended]) await report(site, { id, reason: "other" });
  site.clock.now += 3 * DAY;
  for (let sweeps = 0; sweeps < 60 && (await reportsOf(site, "decided")).length === 0; sweeps++)
    await site.images.sweep();
  expect((await reportsOf(site, "decided")).map(({ id }) => id)).toEqual([ended]);
});

test("a report is refused while its event cannot be stored", async () => {
  const site = createLifeSite({ reports: true });
  site.images.events.subscribe(() => undefined);
  const { id } = created(await site.create());
  const away = site.another({
    store: tapStore(site.store, ({ method, key }) => {
      if (method === "put" && key === `${id}/record`)
        throw new ServiceError("store_unavailable", "No answer.");
    }),
  });
  away.images.events.subscribe(() => undefined);
  expect((await report(away, { id, reason: "other" })).status).toBe(503);
  expect(await reportsOf(site)).toEqual([]);
});

test.each<[string, Record<string, string>, RegExp]>([
  ["without an ID", { reason: "other" }, /^id must be/],
  ["with a wrong reason", { id: "$", reason: "ugly" }, /^reason must be one of intimate_image/],
  ["without a reason", { id: "$" }, /^reason must be/],
  ["with a long statement", { id: "$", reason: "other", statement: "x".repeat(2001) }, /^statement must be/],
  ["with a long contact", { id: "$", reason: "other", contact: "x".repeat(321) }, /^contact must be/],
])("a report %s answers 400 with the field", async (_what, fields, detail) => {
  const site = createLifeSite({ reports: true });
  const { id } = created(await site.create());
  const answer = await report(site, { ...fields, ...(fields.id === "$" ? { id } : {}) });
  expect([answer.status, answer.json.detail]).toEqual([400, expect.stringMatching(detail)]);
  expect(await reportsOf(site)).toEqual([]);
});

test("reports of unknown images answer 404, and where the option is off there is no route", async () => {
  const site = createLifeSite({ reports: true });
  const { id } = created(await site.create());
  expect((await report(site, { id: `${id.slice(0, -1)}~`, reason: "other" })).status).toBe(400);
  expect((await report(site, { id: "A".repeat(22), reason: "other" })).status).toBe(404);
  const { images } = createLifeSite();
  expect(await images.handle(createCall("POST", API, { fields: { id, reason: "other" } }))).toBeUndefined();
});

test("a client that reports too often gets 429", async () => {
  const site = createLifeSite({ reports: true, rateLimits: { reports: 2 } });
  const { id } = created(await site.create());
  const statuses = [];
  for (let count = 0; count < 3; count++) statuses.push((await report(site, { id, reason: "other" })).status);
  expect(statuses).toEqual([201, 201, 429]);
});

test("only a client that may read an image can report it, and no page of another site", async () => {
  const site = createLifeSite({ reports: true, authorize: (_call, action) => action !== "read" });
  const { id } = created(await site.create());
  expect((await report(site, { id, reason: "other" })).status).toBe(403);
  const open = createLifeSite({ reports: true });
  const image = created(await open.create());
  const headers = { ...BROWSER, origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  const fields = { id: image.id, reason: "other" };
  expect((await open.send("POST", API, { headers, fields })).status).toBe(403);
  expect(await reportsOf(open)).toEqual([]);
});

test("two decisions about one report: the second gets a conflict", async () => {
  const site = createLifeSite({ reports: true });
  const { id } = created(await site.create());
  await expect(site.images.reports.decide(id, { decision: "kept" })).rejects.toMatchObject({
    code: "not_found",
  });
  await report(site, { id, reason: "other" });
  await site.images.reports.decide(id, { decision: "kept" });
  await expect(site.images.reports.decide(id, { decision: "kept" })).rejects.toMatchObject({
    code: "conflict",
  });
});

test("image.reported tells of the first report of a case, without its contact and statement", async () => {
  const site = createLifeSite({ reports: true });
  const events: object[] = [];
  site.images.events.subscribe((event) => void events.push(event));
  const { id } = created(await site.create());
  const fields = { id, reason: "privacy", statement: "Secret words.", contact: "ada@acme.example" };
  const { json } = await report(site, fields);
  site.clock.now += MINUTE;
  await report(site, fields);
  await eventually(() => expect(events).toHaveLength(2));
  const told = events[1];
  assert(told);
  expect(told).toMatchObject({ type: "image.reported", reference: json.reference, reasons: ["privacy"] });
  expect(JSON.stringify(told)).not.toMatch(/Secret|ada@/);
});
