import { cleanedTo, createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { eventually } from "../../../test/image-site.ts";
import { createLibrarySite } from "../../../test/library-site.ts";
import { ServiceError } from "../../errors.ts";

describe("the option wait of add()", () => {
  test("add() waits for the checks beyond asyncAfterMs, and rejects with their error", async () => {
    const renderer = createFakeRenderer();
    const site = createLibrarySite({ renderer, asyncAfterMs: 0 });
    const adding = site.images.add(PNG);
    const admitting = await renderer.next();
    admitting.accept(await cleanedTo(admitting, Buffer.from("clean")));
    expect(await adding).toMatchObject({ status: "ready", size: 5, width: 40 });
    const refused = site.images.add(PNG);
    (await renderer.next()).refuse(new ServiceError("too_costly", "Too many pixels."));
    await expect(refused).rejects.toMatchObject({ code: "too_costly", message: "Too many pixels." });
  });

  test("wait: false resolves at once, and the image becomes ready later", async () => {
    const renderer = createFakeRenderer();
    const site = createLibrarySite({ renderer });
    const added = await site.images.add(PNG, { wait: false });
    expect(added).toMatchObject({ status: "processing", width: null });
    expect(await site.images.find(added.id)).toMatchObject({
      status: "processing",
      revision: expect.any(String),
    });
    await expect(site.images.open(added.id)).rejects.toMatchObject({
      code: "processing",
      retryAfterMs: 1000,
    });
    await expect(site.images.edit(added.id, { name: "x" })).rejects.toMatchObject({ code: "conflict" });
    (await renderer.next()).accept();
    await eventually(async () => expect((await site.images.find(added.id)).status).toBe("ready"));
  });

  test("wait: true waits for an image of an earlier call with the same key that is still processed", async () => {
    const renderer = createFakeRenderer();
    const site = createLibrarySite({ renderer });
    const first = await site.images.add(PNG, { wait: false, idempotencyKey: "a" });
    const second = site.images.add(PNG, { idempotencyKey: "a" });
    (await renderer.next()).accept();
    expect(await second).toMatchObject({ id: first.id, status: "ready", pin: first.pin });
  });

  test("aborting a wait for an image of an earlier call does not affect that image", async () => {
    const renderer = createFakeRenderer();
    const site = createLibrarySite({ renderer });
    const { id } = await site.images.add(PNG, { wait: false, idempotencyKey: "a" });
    const leaving = new AbortController();
    const held = site.images.add(PNG, { idempotencyKey: "a", signal: leaving.signal });
    leaving.abort(new Error("left"));
    await expect(held).rejects.toThrow("left");
    (await renderer.next()).accept();
    await eventually(async () => expect((await site.images.find(id)).status).toBe("ready"));
  });
});
