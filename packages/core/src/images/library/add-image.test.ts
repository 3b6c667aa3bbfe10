import { Readable } from "node:stream";
import { createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { bytesAt, keysOf } from "../../../test/image-site.ts";
import { createLibrarySite, namingRenderer, stalledSource } from "../../../test/library-site.ts";
import { DAY, STORES } from "../../../test/life-site.ts";
import type { ImageSource } from "./spool-source.ts";

describe.each(Object.entries(STORES))("add() to a store in %s", (_where, createStore) => {
  test.each<[string, () => ImageSource, string]>([
    ["a Buffer", () => PNG, "untitled"],
    ["a stream of chunks", () => Readable.from([PNG.subarray(0, 3), PNG.subarray(3)]), "untitled"],
    ["a Blob", () => new Blob([PNG]), "untitled"],
    ["a File", () => new File([PNG], "Café.png"), "Café.png"],
  ])("add() stores the bytes of %s, and describes the image as HTTP does", async (_what, source, name) => {
    const site = createLibrarySite({ store: createStore(), publicUrl: "https://example.com/img" });
    const { revision, editUrl, pin, ...details } = await site.images.add(source());
    expect(await bytesAt(site.store, `${details.id}/original`)).toEqual(PNG);
    const { json } = await site.send("GET", `/api/images/${details.id}.json`);
    expect(details).toEqual(json);
    expect(details).toMatchObject({
      name,
      type: "image/png",
      status: "ready",
      agent: null,
      size: PNG.length,
    });
    expect(editUrl).toBe(`https://example.com/img/${details.id}/edit?pin=${pin}`);
    expect((await site.images.find(details.id)).revision).toBe(revision);
    const headers = { "x-service-image-pin": pin };
    expect((await site.send("DELETE", `/api/images/${details.id}.json`, { headers })).status).toBe(204);
  });

  test("add() returns the fields of a 201 in their order, then the revision", async () => {
    const site = createLibrarySite({ store: createStore() });
    const answer = await site.create();
    const added = await site.images.add(PNG);
    expect(Object.keys(added)).toEqual([...Object.keys(answer.json), "revision"]);
    expect(added.url).toBe(`/${added.id}`);
  });

  test("add() rejects a source beyond maxUploadBytes with too_large, stops reading and stores nothing", async () => {
    const site = createLibrarySite({ store: createStore(), maxUploadBytes: 100_000 });
    const endless = Readable.from(
      (function* () {
        for (;;) yield PNG;
      })(),
    );
    for (const source of [endless, Buffer.alloc(100_001), new Blob([Buffer.alloc(100_001)])]) {
      await expect(site.images.add(source)).rejects.toMatchObject({ code: "too_large" });
    }
    expect(endless.destroyed).toBe(true);
    expect(await keysOf(site.store)).toEqual([]);
  });

  test("an aborted add() rejects with the signal's reason and stores nothing", async () => {
    const renderer = createFakeRenderer();
    const site = createLibrarySite({ store: createStore(), renderer });
    const leaving = new AbortController();
    const reason = new Error("not needed");
    const source = stalledSource();
    const reading = site.images.add(source, { signal: leaving.signal });
    const admitted = new AbortController();
    const checking = site.images.add(PNG, { signal: admitted.signal });
    await renderer.next();
    leaving.abort(reason);
    admitted.abort(reason);
    await Promise.all([expect(reading).rejects.toBe(reason), expect(checking).rejects.toBe(reason)]);
    await expect(site.images.add(PNG, { signal: admitted.signal })).rejects.toBe(reason);
    expect(source.destroyed).toBe(true);
    expect(await keysOf(site.store)).toEqual([]);
    expect(site.errors).toEqual([]);
  });
});

test("add() accepts a type with parameters, and keeps name, expiry and owner", async () => {
  const site = createLibrarySite();
  const expiresAt = new Date(site.clock.now + 2 * DAY);
  const { images } = site;
  for (const moment of [expiresAt, Number(expiresAt), expiresAt.toISOString()]) {
    const options = { type: "IMAGE/PNG; q=1", name: " Anna\n", expiresAt: moment, owner: "anna" };
    expect(await images.add(PNG, options)).toMatchObject({
      name: "Anna",
      expiresAt: expiresAt.toISOString(),
    });
  }
  expect(await images.usage("anna")).toEqual({ images: 3, bytes: 3 * PNG.length });
  const limited = images.add(PNG, { owner: "anna", ownerLimits: { images: 3 } });
  await expect(limited).rejects.toMatchObject({ code: "forbidden" });
  expect(await images.usage("anna")).toEqual({ images: 3, bytes: 3 * PNG.length });
});

test("add() skips authorize, rate limits and the limit of checks per client", async () => {
  const renderer = Object.assign(namingRenderer(null), { workers: 1, maxQueue: 100 });
  const site = createLibrarySite({ renderer, authorize: () => false, rateLimits: { creates: 1 } });
  const adding = Promise.all(Array.from({ length: 20 }, () => site.images.add(PNG)));
  for (let count = 0; count < 20; count++) (await renderer.next()).accept();
  expect(new Set((await adding).map(({ id }) => id)).size).toBe(20);
  expect((await site.create()).status).toBe(403);
});
