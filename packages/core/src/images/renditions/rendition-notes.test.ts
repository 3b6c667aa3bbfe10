import { describe, expect, test } from "vitest";
import { eventually } from "../../../test/image-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import type { Renderer, RenditionSpec } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createMemoryRateLimiter } from "../../stores/memory/memory-rate-limiter.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import { RenderGate } from "./render-gate.ts";
import { stamped } from "./rendition-bytes.ts";
import { RenditionNotes, resetNotes } from "./rendition-notes.ts";
import { Renditions } from "./renditions.ts";

const ID = "AAAAAAAAAAAAAAAAAAAAAA";
const record = {
  id: ID,
  type: "image/png",
  size: 8,
  width: 4,
  height: 4,
  pages: 1,
  createdAt: 10,
} as ImageRecord;
const specOf = (width: number): RenditionSpec => ({ format: "jpg", quality: "high", width, height: width });
const keyOfWidth = (width: number) => keyOf.rendition(ID, `jpg-high-${width}x${width}`);
const targetOf = (width: number) => ({ record, spec: specOf(width), key: keyOfWidth(width) });

const reader = () => ({ client: "10.0.0.1", signal: new AbortController().signal });

/** Processes on one store of records and one of pictures, which records its calls. */
async function createSite(openedAt = 1) {
  const writes = { count: 0, fail: false };
  const records = tapStore(createMemoryBlobStore(), ({ method, key }) => {
    if (method !== "put" || key !== keyOf.notes(ID)) return;
    writes.count++;
    if (writes.fail) throw new ServiceError("no_space", "The store of the records is full");
  });
  const memory = createMemoryBlobStore();
  await memory.put(keyOf.original(ID), Buffer.from("original"));
  const calls: string[] = [];
  const pictures = tapStore(memory, ({ method, key }) => {
    calls.push(`${method} ${key.replace(`${ID}/`, "")}`);
  });
  const clock = { now: openedAt };
  const site = { isLiving: true, render: async () => Buffer.from("rendered") };
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const renderer: Renderer = {
    ...{ build: "b1", version: () => 1, measure: () => null },
    admit: () => Promise.reject(new Error("This renderer admits no upload")),
    render: async () => ({ bytes: await site.render() }),
    close: async () => undefined,
  };
  const open = async () => {
    const renditions = new Renditions({
      ...{ records, originals: pictures, renditions: pictures, renderer, onError },
      ...{
        leases: async () => null,
        loadLiving: async () => (site.isLiving ? record : null),
        served: () => undefined,
      },
      renders: new RenderGate(renderer, { limiter: createMemoryRateLimiter(), cpuSeconds: null, onError }),
      ...{ now: () => clock.now, memoryBytes: 0 },
    });
    await renditions.open();
    return renditions;
  };
  const read = async (width: number, renditions?: Awaited<ReturnType<typeof open>>) => {
    const used = renditions ?? (await open());
    const found = await used.get(targetOf(width), reader());
    await used.close();
    return found?.size ?? null;
  };
  const during = async (work: () => Promise<unknown>) => {
    calls.length = 0;
    await work();
    return [...calls];
  };
  const notes = new RenditionNotes({ records, renditions: pictures }, () => clock.now);
  const first = await open();
  return { records, writes, memory, clock, site, errors, first, open, read, during, notes };
}

describe("notes about renditions in a remote store", () => {
  test("a cold rendition reads the original and writes the rendition, and its next read only reads", async () => {
    const { read, during, errors } = await createSite();
    expect(await during(() => read(2))).toEqual(["get original", "put renditions/jpg-high-2x2"]);
    expect(await during(() => read(2))).toEqual(["get renditions/jpg-high-2x2"]);
    expect(await during(() => read(3))).toEqual(["get original", "put renditions/jpg-high-3x3"]);
    expect(errors).toEqual([]);
  });

  test("a rendition that is noted but missing is rendered again, and noted again", async () => {
    const { memory, read, during, notes } = await createSite();
    await read(2);
    await memory.delete(keyOfWidth(2));
    expect(await during(() => read(2))).toEqual([
      "get renditions/jpg-high-2x2",
      "get original",
      "put renditions/jpg-high-2x2",
    ]);
    expect([...((await notes.read(record)).stored ?? [])]).toEqual([[keyOfWidth(2), 104]]);
  });

  test("where notes cannot be written, a missing rendition is rendered, and one of an ended image is removed", async () => {
    const { memory, site, writes, read, errors } = await createSite();
    await read(2);
    await memory.delete(keyOfWidth(2));
    writes.fail = true;
    expect(await read(2)).toBe(8);
    expect(errors.length).toBeGreaterThan(0);
    site.isLiving = false;
    await read(3);
    expect(await memory.stat(keyOfWidth(3))).toBeNull();
  });

  test("sizes requested at once from one process are noted by one write each", async () => {
    const { first, writes, notes } = await createSite();
    const widths = [2, 3, 4, 5, 6, 7, 8, 9];
    await Promise.all(widths.map((width) => first.get(targetOf(width), reader())));
    await first.close();
    expect(writes.count).toBe(widths.length);
    expect((await notes.read(record)).stored?.size).toBe(widths.length);
  });

  test("renditions stored before there were notes are found, and listed once", async () => {
    const { memory, read, during } = await createSite(record.createdAt + 1);
    await memory.put(keyOfWidth(2), stamped({ version: 1, build: "b0" }, Buffer.from("old")));
    expect(await read(2)).toBe(3);
    expect((await during(() => read(3))).filter((call) => call.startsWith("list"))).toHaveLength(1);
    expect(await during(() => read(4))).toEqual(["get original", "put renditions/jpg-high-4x4"]);
    expect(await during(() => read(2))).toEqual(["get renditions/jpg-high-2x2"]);
  });

  test("images copied to a store count as images from before there were notes", async () => {
    const { records, memory, clock, open, read } = await createSite();
    await resetNotes(records);
    await memory.put(keyOfWidth(2), stamped({ version: 1, build: "b0" }, Buffer.from("copied")));
    clock.now = record.createdAt + 1;
    expect(await read(2, await open())).toBe(6);
  });

  test("the notes and the rendition of an image that ends while it is stored are removed", async () => {
    const { records, memory, site, read } = await createSite();
    site.isLiving = false;
    await read(2);
    expect((await memory.list(`${ID}/renditions/`)).keys).toEqual([]);
    expect((await records.list(`${ID}/`)).keys).toEqual([]);
  });

  test("removal removes the notes", async () => {
    const { records, first, read } = await createSite();
    await read(2);
    expect((await records.list(`${ID}/`)).keys).toEqual([keyOf.notes(ID)]);
    await first.remove(ID);
    expect((await records.list(`${ID}/`)).keys).toEqual([]);
  });

  test.each([
    ["no JSON", Buffer.from("{")],
    ["another form", Buffer.from(JSON.stringify({ stored: [["a", "b"]], failures: {} }))],
  ])("damaged notes (%s) are replaced, and no rendition is lost", async (_what, bytes) => {
    const { records, read, during, notes } = await createSite();
    await read(2);
    await records.put(keyOf.notes(ID), bytes);
    expect(await read(2)).toBe(8);
    expect(await during(() => read(3))).toContain(`list renditions/`);
    expect([...((await notes.read(record)).stored ?? [])].map(([key]) => key).sort()).toEqual([
      keyOfWidth(2),
      keyOfWidth(3),
    ]);
  });

  test("notes of a newer release are neither used nor changed", async () => {
    const { records, read } = await createSite();
    const newer = Buffer.from(JSON.stringify({ v: 2, stored: [], failures: [] }));
    await records.put(keyOf.notes(ID), newer);
    await expect(read(2)).rejects.toMatchObject({ code: "store_unavailable" });
    expect((await records.get(keyOf.notes(ID)))?.body).toEqual(newer);
  });

  test("processes that change the notes at once lose no change", async () => {
    const { open, read, notes } = await createSite();
    const widths = Array.from({ length: 12 }, (_, index) => index + 2);
    await Promise.all(widths.map(async (width) => read(width, await open())));
    await eventually(async () => {
      const { stored } = await notes.read(record);
      expect([...(stored?.keys() ?? [])].sort()).toEqual(widths.map(keyOfWidth).sort());
    });
  });
});
