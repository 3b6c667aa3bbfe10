import { expect, test } from "vitest";
import { created } from "../../../test/image-site.ts";
import { createLifeSite, HOUR } from "../../../test/life-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import type { Observer } from "../../contracts/observer.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

function recordedGauges() {
  const gauges = new Map<string, () => number>();
  const observer: Observer = {
    observe: (_operation, work) => work(),
    served() {},
    gauge: (name, read) => {
      gauges.set(name, read);
      return () => undefined;
    },
  };
  return { gauges, observer };
}

test("the age of the oldest due entry grows while no sweep runs, also without the store, and ends with a sweep", async () => {
  const { gauges, observer } = recordedGauges();
  let isBroken = false;
  const store = tapStore(createMemoryBlobStore(), () => {
    if (isBroken) throw new ServiceError("store_unavailable", "No answer.");
  });
  const site = createLifeSite({ store, observer, defaultLifetimeMs: HOUR });
  const age = () => gauges.get("due_oldest_seconds")?.();
  created(await site.create());
  expect(age()).toBe(0);
  site.clock.now += 48 * HOUR;
  await expect.poll(age).toBeGreaterThan(46 * 3600);
  isBroken = true;
  site.clock.now += 10 * HOUR;
  await expect.poll(age).toBeGreaterThan(56 * 3600);
  isBroken = false;
  await site.images.sweep();
  await expect.poll(age).toBe(0);
});

test("gauges count the images that wait for review and the overdue reports, and exist only with their options", async () => {
  const { gauges, observer } = recordedGauges();
  createLifeSite({ observer });
  expect([gauges.has("images_held"), gauges.has("reports_overdue")]).toEqual([false, false]);
  const site = createLifeSite({ observer, inspect: () => "hold", reports: { hours: 1 } });
  const held = () => gauges.get("images_held")?.();
  const overdue = () => gauges.get("reports_overdue")?.();
  const { id } = created(await site.create());
  created(await site.create());
  await site.send("POST", "/api/reports.json", { fields: { id, reason: "other" } });
  await expect.poll(held).toBe(2);
  expect(overdue()).toBe(0);
  site.clock.now += HOUR;
  await expect.poll(overdue).toBe(1);
  await site.images.accept(id);
  await site.images.withhold(id, { reason: "By order." });
  await expect.poll(held).toBe(1);
  await expect.poll(overdue).toBe(0);
});
