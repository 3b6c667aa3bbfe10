import { describe, expect, test } from "vitest";
import { created } from "../../../test/image-site.ts";
import { anotherProcess, createLifeSite, DAY, HOUR, STORES } from "../../../test/life-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createImageAdmin, type ImageAdmin } from "./image-admin.ts";

async function linesOf(admin: ImageAdmin, range = {}) {
  const lines = [];
  for await (const line of admin.audit(range)) lines.push(line);
  return lines;
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("audit() lists the acts of operators of all processes in their order, with names and reasons", async () => {
    const site = createLifeSite({ store: createStore() });
    const other = anotherProcess(site);
    const [one, two] = [created(await site.create()).id, created(await site.create()).id];
    const { now } = site.clock;
    await site.images.withhold(one, { reason: "A claim.", by: "anna" });
    site.clock.now++;
    await other.images.release(one, { by: "ben" });
    site.clock.now++;
    await other.images.remove(two, { by: "ben" });
    site.clock.now++;
    await site.images.changeMany([one], (id, { remove }) => remove(id));
    const lines = [
      { at: now, act: "withhold", id: one, reason: "A claim.", by: "anna" },
      { at: now + 1, act: "release", id: one, by: "ben" },
      { at: now + 2, act: "remove", id: two, by: "ben" },
      { at: now + 3, act: "remove", id: one },
    ];
    expect(await linesOf(site.images)).toEqual(lines);
    expect(await linesOf(other.images, { from: now + 1, to: now + 3 })).toEqual(lines.slice(1, 3));
  });

  test("audit() lists acts of different days and minutes in their order, also those of a part of the time", async () => {
    const site = createLifeSite({ store: createStore() });
    const { id } = created(await site.create());
    const times: number[] = [];
    for (const pause of [0, 1, HOUR, DAY / 2, 26 * DAY, 70 * DAY]) {
      site.clock.now += pause;
      times.push(site.clock.now);
      await site.images.deny({ sha256: "0".repeat(64), reason: id });
    }
    const listed = async (range = {}) => (await linesOf(site.images, range)).map(({ at }) => at);
    expect(await listed()).toEqual(times);
    expect(await listed({ from: times[2], to: times[4] })).toEqual(times.slice(2, 4));
    const directories = (await site.store.list("audit/")).keys.map((key) =>
      key.split("/").slice(0, 3).join("/"),
    );
    expect(new Set(directories).size).toBe(5);
  });

  test("a failed act, and a deletion by the host without a name, leave no line", async () => {
    const site = createLifeSite({ store: createStore() });
    const { id } = created(await site.create());
    await site.images.remove(id);
    await expect(site.images.withhold(id, { reason: "Late.", by: "anna" })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(site.images.release(id, { by: " " })).rejects.toThrow(TypeError);
    expect(await linesOf(site.images)).toEqual([]);
  });

  test("the sweep removes lines after three years", async () => {
    const site = createLifeSite({ store: createStore() });
    const { id } = created(await site.create());
    await site.images.withhold(id, { reason: "A claim." });
    site.clock.now += 3 * 365 * DAY - 1;
    await anotherProcess(site).images.sweep();
    expect(await linesOf(site.images)).toHaveLength(1);
    site.clock.now += 2 * DAY;
    await anotherProcess(site).images.sweep();
    expect(await linesOf(site.images)).toEqual([]);
  });
});

test("an act succeeds and the failure is reported when the store rejects its line", async () => {
  const { put, ...others } = createMemoryBlobStore();
  const store: BlobStore = {
    ...others,
    async put(key, ...given) {
      if (key.startsWith("audit/")) throw new Error("disk on fire");
      return put(key, ...given);
    },
  };
  const site = createLifeSite({ store });
  const { id } = created(await site.create());
  await site.images.withhold(id, { reason: "A claim.", by: "anna" });
  expect((await site.send("GET", `/${id}`)).status).toBe(451);
  expect(site.errors.map(String)).toEqual([expect.stringContaining(`the line of "withhold" for ${id}`)]);
});

test("a damaged line is reported, and the others are listed", async () => {
  const site = createLifeSite();
  const { id } = created(await site.create());
  await site.images.withhold(id, { reason: "A claim." });
  await site.store.put("audit/000/00/000000001.x", Buffer.from('{"v":1,"at":"soon"}'));
  await site.store.put("audit/000/00/000000002.x", Buffer.from('{"v":9}'));
  expect(await linesOf(site.images)).toMatchObject([{ act: "withhold" }]);
  expect(site.errors).toHaveLength(2);
});

test("a deletion whose bytes cannot be removed yet has its line, and its report is decided", async () => {
  const site = createLifeSite({ reports: true });
  const { id } = created(await site.create());
  await site.send("POST", "/api/reports.json", { fields: { id, reason: "other" } });
  const store = tapStore(site.store, ({ method, key }) => {
    if (method === "delete" && key === `${id}/original`) throw new ServiceError("store_unavailable", "Away.");
  });
  const admin = createImageAdmin({ storage: { ...store, close: async () => {} }, now: () => site.clock.now });
  await expect(admin.remove(id, { by: "anna" })).rejects.toMatchObject({ code: "store_unavailable" });
  const acts = [];
  for await (const { act, by } of site.images.audit()) acts.push([act, by]);
  expect(acts).toEqual([["remove", "anna"]]);
  for await (const { decision } of site.images.reports.list())
    expect(decision).toMatchObject({ decision: "removed", by: "anna" });
});
