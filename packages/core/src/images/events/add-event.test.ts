import { expect, test } from "vitest";
import { created, eventually, storedRecord } from "../../../test/image-site.ts";
import { createLifeSite } from "../../../test/life-site.ts";
import { defaultSettings, imageSettings } from "../image-settings.ts";
import { createLife } from "../life/create-life.ts";
import { rolesOf } from "../record/storage-roles.ts";
import { createAdminGuard } from "../store/store-guard.ts";

test("an event is added to an image without another change, bounded to 100 that wait, and to no image without a record", async () => {
  const site = createLifeSite();
  const { id } = created(await site.create());
  const read = async () => (await site.send("GET", `/api/images/${id}.json`)).headers;
  const before = await read();
  const errors: string[] = [];
  const onError = (error: unknown) => void errors.push(String(error));
  const settings = imageSettings({ ...defaultSettings("test"), now: () => site.clock.now, onError });
  const roles = rolesOf(site.store);
  const { events } = createLife(roles, settings, createAdminGuard(roles, settings.log), {
    remove: async () => undefined,
  }).life;
  const heard: unknown[] = [];
  const details = { reference: "R-1", reasons: ["illegal"], dueAt: site.clock.now };
  await events.addEvent(id, "image.reported", details);
  expect(await storedRecord(site.store, id)).not.toHaveProperty("outbox");

  let take = () => {};
  const taken = new Promise<void>((resolve) => {
    take = resolve;
  });
  events.subscribe(async (event) => {
    heard.push(event);
    await taken;
  });
  for (let count = 0; count < 102; count++) await events.addEvent(id, "image.reported", details);
  const stored = await storedRecord(site.store, id);
  expect(stored?.outbox?.events).toHaveLength(100);
  expect(stored?.outbox?.events[0]).toMatchObject({ type: "image.reported", ...details });
  expect(errors).toEqual([
    expect.stringContaining("was given up: subscriber-1 did not take it"),
    expect.stringContaining("was given up: subscriber-1 did not take it"),
  ]);
  expect(await read()).toEqual(before);
  await events.addEvent("A".repeat(22), "image.reported", details);
  expect(await storedRecord(site.store, "A".repeat(22))).toBeNull();
  take();
  await eventually(() => expect(heard.length).toBeGreaterThan(90));
  await eventually(async () => expect((await storedRecord(site.store, id))?.outbox).toBeUndefined());
  await events.close();
});
