import { Readable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { eventually, type ImageSite } from "../../../test/image-site.ts";
import { createLibrarySite } from "../../../test/library-site.ts";
import { DAY, STORES } from "../../../test/life-site.ts";
import { ServiceError } from "../../errors.ts";
import type { Images } from "../images.ts";
import type { ImageEdit } from "./image-library.ts";

const AUTHORITY = "https://court.example/7";

/** Every call that takes the ID of an image. */
const CALLS: Record<string, (images: Images, id: string) => Promise<unknown>> = {
  open: (images, id) => images.open(id),
  find: (images, id) => images.find(id),
  edit: (images, id) => images.edit(id, { name: "New" }),
  remove: (images, id) => images.remove(id),
};

describe.each(Object.entries(CALLS))("%s()", (name, call) => {
  test.each<[string, (site: ImageSite) => Promise<string>, object]>([
    ["an unknown image", async () => "A".repeat(22), { code: "not_found" }],
    ["a malformed ID", async () => "../../etc/passwd", { code: "not_found" }],
    [
      "an expired image",
      async ({ images, clock }) => {
        const { id } = await images.add(PNG);
        clock.now += DAY;
        return id;
      },
      { code: "gone", message: "This image expired at 2026-03-02T12:00:00.000Z." },
    ],
    [
      "a deleted image",
      async ({ images }) => {
        const { id } = await images.add(PNG);
        await images.remove(id);
        return id;
      },
      { code: "gone", message: "This image was deleted." },
    ],
    [
      "a deleted image after tombstoneDays",
      async ({ images, clock }) => {
        const { id } = await images.add(PNG);
        await images.remove(id);
        clock.now += 30 * DAY;
        return id;
      },
      { code: "not_found" },
    ],
    [
      "a withheld image that was deleted",
      async ({ images }) => {
        const { id } = await images.add(PNG);
        await images.withhold(id, { reason: "By order.", authority: AUTHORITY });
        await images.remove(id);
        return id;
      },
      { code: "withheld", message: "By order.", authority: AUTHORITY },
    ],
    [
      "an image whose processing failed",
      async ({ images, renderer }) => {
        renderer.answer = ({ refuse }) =>
          refuse(new ServiceError("unsupported_media", "Its pixels end early."));
        const { id } = await images.add(PNG, { wait: false });
        await eventually(() => expect(images.find(id)).rejects.toThrow());
        return id;
      },
      { code: "not_found", message: "Its pixels end early." },
    ],
  ])("the call rejects for %s", async (_what, make, expected) => {
    const site = createLibrarySite();
    const id = await make(site);
    await expect(call(site.images, id)).rejects.toMatchObject({ name: "ServiceError", ...expected });
  });

  test("the call rejects for a damaged record, unless it deletes the image", async () => {
    const site = createLibrarySite();
    const { id } = await site.images.add(PNG);
    await site.store.put(`${id}/record`, Buffer.from("{"));
    if (name === "remove") {
      await call(site.images, id);
      expect((await site.send("GET", `/${id}`)).status).toBe(410);
    } else {
      await expect(call(site.images, id)).rejects.toMatchObject({ code: "damaged" });
    }
  });

  test("the call rejects with overloaded after close()", async () => {
    const { images } = createLibrarySite();
    const { id } = await images.add(PNG);
    await images.close();
    await expect(call(images, id)).rejects.toMatchObject({ code: "overloaded" });
  });
});

describe.each(Object.entries(STORES))("edit() on a store in %s", (_where, createStore) => {
  test("edit() changes name and expiry as PATCH does, and returns the record with its new revision", async () => {
    const site = createLibrarySite({ store: createStore(), publicUrl: "https://example.com/img" });
    const added = await site.images.add(PNG);
    const expiresAt = "2026-03-09T12:00:00.000Z";
    const { revision, ...edited } = await site.images.edit(added.id, { name: "New\n", expiresAt });
    expect(edited).toEqual((await site.send("GET", `/api/images/${added.id}.json`)).json);
    expect(edited).toMatchObject({ name: "New", expiresAt });
    expect(revision).not.toBe(added.revision);
    expect(await site.images.find(added.id)).toEqual({ ...edited, revision });
  });

  test("edit() with ifRevision succeeds once, then rejects with conflict", async () => {
    const { images } = createLibrarySite({ store: createStore() });
    const { id, revision } = await images.add(PNG);
    const edited = await images.edit(id, { name: "First" }, { ifRevision: revision });
    const again = images.edit(id, { name: "Second" }, { ifRevision: revision });
    await expect(again).rejects.toMatchObject({ code: "conflict" });
    expect(await images.edit(id, { name: "Third" }, { ifRevision: edited.revision })).toMatchObject({
      name: "Third",
    });
  });
});

test.each<[string, ImageEdit]>([
  ["nothing", {}],
  ["an empty name", { name: "" }],
  ["an end in the past", { expiresAt: new Date("2026-01-01") }],
])("edit() rejects %s with bad_request", async (_what, change) => {
  const { images } = createLibrarySite();
  const { id } = await images.add(PNG);
  await expect(images.edit(id, change)).rejects.toMatchObject({ code: "bad_request" });
});

describe("close()", () => {
  async function isSettled(promise: Promise<unknown>): Promise<boolean> {
    let settled = false;
    void promise.finally(() => {
      settled = true;
    });
    for (let round = 0; round < 20; round++) await turn();
    return settled;
  }

  test("close() waits for an add under way, and rejects the next one and destroys its stream", async () => {
    const renderer = createFakeRenderer();
    const site = createLibrarySite({ renderer });
    const adding = site.images.add(PNG);
    const admitting = await renderer.next();
    const closed = site.images.close();
    const source = Readable.from([PNG]);
    await expect(site.images.add(source)).rejects.toMatchObject({ code: "overloaded", retryAfterMs: 2000 });
    expect(source.destroyed).toBe(true);
    expect(await isSettled(closed)).toBe(false);
    admitting.accept();
    expect(await adding).toMatchObject({ status: "ready" });
    await closed;
  });

  test("close() ends a wait for another call's image after timeoutMs", async () => {
    const renderer = createFakeRenderer();
    const { images } = createLibrarySite({ renderer });
    await images.add(PNG, { wait: false, idempotencyKey: "a" });
    await renderer.next();
    const waiting = expect(images.add(PNG, { idempotencyKey: "a" })).rejects.toMatchObject({
      code: "overloaded",
    });
    await turn();
    await images.close({ timeoutMs: 0 });
    await waiting;
  });
});
