import { createHash } from "node:crypto";
import { cleanedTo, createFakeRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { created, eventually, keysOf, storedRecord } from "../../../test/image-site.ts";
import { createLifeSite } from "../../../test/life-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const CLEAN = Buffer.from("a clean picture");
const sha256 = createHash("sha256").update(PNG).digest("hex");

/** The entries of the lists of operators and of the index of copies. */
async function entriesOf(store: BlobStore): Promise<string[]> {
  return [...(await store.list("marked/")).keys, ...(await store.list("copies/")).keys];
}

test("an upload to be held whose record cannot be stored leaves no entry of an index", async () => {
  const store = createMemoryBlobStore();
  const tapped = tapStore(store, ({ method, key }) => {
    if (method === "put" && key.endsWith("/record")) throw new ServiceError("store_unavailable", "Away.");
  });
  const site = createLifeSite({ store: tapped, inspect: () => "hold" });
  expect((await site.create()).status).toBe(503);
  expect(await entriesOf(store)).toEqual([]);
});

test.each([
  ["image.held", "hold", { wasHeld: true }],
  ["image.stored", "accept", {}],
] as const)(
  "an upload whose bytes are denied while it is stored leaves nothing, and %s is followed by image.removed",
  async (type, verdict, details) => {
    const store = createMemoryBlobStore();
    const { put } = store;
    let isDone = false;
    const deny = (): Promise<void> => site.images.deny({ sha256, reason: "Known abuse." });
    const late: BlobStore = {
      ...tapStore(store, () => undefined),
      async put(...given) {
        const stored = await put(...given);
        const isFirst = !isDone && given[0].endsWith("/record");
        isDone ||= isFirst;
        if (isFirst) await deny();
        return stored;
      },
    };
    const hooked: string[] = [];
    const hooks = { onStored: () => hooked.push("stored"), onRemoved: () => hooked.push("removed") };
    const site = createLifeSite({ store: late, inspect: () => verdict, ...hooks });
    const heard: unknown[] = [];
    site.images.events.subscribe(({ type, why, wasHeld }) => heard.push({ type, why, wasHeld }));
    expect((await site.create()).status).toBe(403);
    expect(isDone).toBe(true);
    await eventually(() =>
      expect(heard).toEqual([{ type }, { type: "image.removed", why: "deleted", ...details }]),
    );
    await eventually(() => expect(hooked).toEqual(type === "image.held" ? [] : ["stored", "removed"]));
    expect((await keysOf(store)).filter((key) => !/^denied\//.test(key))).toEqual([]);
    expect(await entriesOf(store)).toEqual([]);
  },
);

test.each(["copies", "original"])(
  "a process that works on an image which another process deletes (before it writes its %s) leaves no entry of its cleaned bytes or its review",
  async (when) => {
    const store = createMemoryBlobStore();
    const renderer = createFakeRenderer();
    let id = "";
    let isDone = false;
    let ends = 0;
    const tapped = tapStore(store, async ({ method, key }): Promise<void> => {
      if (method === "delete" && key === `${id}/upload`) ends++;
      if (isDone || renderer.calls === 0 || method !== "put" || !key.includes(when)) return;
      isDone = true;
      await other.images.remove(id);
    });
    const site = createLifeSite({ store: tapped, renderer, asyncAfterMs: 0, inspect: () => "hold" });
    const other = site.another({ renderer: createFakeRenderer(), processUploads: false, store });
    id = created(await site.create()).id;
    const admitting = await renderer.next();
    admitting.accept(await cleanedTo(admitting, CLEAN));
    await eventually(() => expect(ends).toBeGreaterThan(0));
    expect((await storedRecord(store, id))?.gone).toMatchObject({ why: "deleted" });
    expect(await entriesOf(store)).toEqual([]);
  },
);
