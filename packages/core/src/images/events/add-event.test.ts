import { expect, test } from "vitest";
import { created, eventually, storedRecord } from "../../../test/image-site.ts";
import { createLifeSite } from "../../../test/life-site.ts";
import { signal } from "../../../test/tapped-store.ts";

test("an event is added to an image without another change, not at all without a subscriber, and at most 100 wait", async () => {
  const site = createLifeSite({ reports: true });
  const { id } = created(await site.create());
  const read = async () => (await site.send("GET", `/api/images/${id}.json`)).headers;
  const before = await read();
  /** Each report after a decision is the first of its case, which is an event. */
  const report = async (clientIp: string) => {
    const fields = { id, reason: "privacy" };
    expect((await site.send("POST", "/api/reports.json", { fields, clientIp })).status).toBe(201);
    await site.images.reports.decide(id, { decision: "kept" });
  };
  await report("192.0.2.1");
  expect(await storedRecord(site.store, id)).not.toHaveProperty("outbox");

  const held = signal();
  site.images.events.subscribe(() => held.promise);
  for (let count = 0; count < 102; count++) await report(`198.51.${count}.7`);
  const events = (await storedRecord(site.store, id))?.outbox?.events;
  expect(events).toHaveLength(100);
  expect(events?.[0]).toMatchObject({ type: "image.reported", reasons: ["privacy"] });
  expect(site.errors.map(String)).toEqual(
    Array(2).fill(expect.stringContaining("was given up: subscriber-1 did not take it")),
  );
  expect(await read()).toEqual(before);
  held.give();
  await eventually(async () => expect((await storedRecord(site.store, id))?.outbox).toBeUndefined());
});
