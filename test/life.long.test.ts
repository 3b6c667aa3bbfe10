import { readdir } from "node:fs/promises";
import { createFsBlobStore, createImageAdmin, type ImagesOptions } from "@outrigger/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jpegPhoto, pngPhoto } from "./support/pictures.ts";
import { addressOf, type Site, startSite, upload } from "./support/service.ts";

const DAY = 86_400_000;
const FORMATS = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];
const HTML = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

/** A site in a host whose clock a test moves. */
async function startTimedSite(): Promise<{ site: Site; clock: { now: number } }> {
  const clock = { now: Date.parse("2026-03-01T12:00:00.000Z") };
  return { site: await startSite({ now: () => clock.now, sweepEveryMs: false }), clock };
}

/** The statuses of everything that shows something of an image. */
async function statusesOf(site: Site, { id }: { id: string }): Promise<number[]> {
  const suffixes = ["json", ...FORMATS, "png?resize=16x", "jpg?convert=low"];
  const addresses = suffixes.map((suffix) => addressOf(site, id, suffix));
  addresses.push(`${site.base}/${id}`, `${site.base}/${id}/view`);
  const kinds = [
    { method: "HEAD" },
    { headers: { Range: "bytes=0-9" } },
    { headers: { "If-None-Match": "*" } },
    { headers: HTML },
  ];
  const statuses = new Set<number>();
  for (const [index, address] of addresses.entries()) {
    for (const kind of [{}, kinds[index % kinds.length]]) {
      const response = await fetch(address, kind);
      await response.arrayBuffer();
      statuses.add(response.status);
    }
  }
  return [...statuses].sort((a, b) => a - b);
}

/** Paths of files in a site's directory that belong to an image; notes of replaced files have their own time. */
async function filesOf(site: Site, { id }: { id: string }): Promise<string[]> {
  const paths = await readdir(site.directory, { recursive: true });
  return paths.filter((path) => path.includes(id) && !path.startsWith("superseded"));
}

describe("the life of an image", () => {
  let site: Site;
  let clock: { now: number };
  beforeAll(async () => {
    ({ site, clock } = await startTimedSite());
  });
  afterAll(() => site.close());

  test("an image is served until it expires, then answers 410, and later 404", async () => {
    const image = await upload(site, await jpegPhoto(60, 40), "image/jpeg");
    const kept = await upload(site, await pngPhoto(40, 30), "image/png", {
      expiresAt: "2026-12-01T00:00:00.000Z",
    });
    clock.now += DAY - 1;
    expect(await statusesOf(site, image)).toEqual([200, 206, 304]);
    const last = await fetch(addressOf(site, image.id, "jpg"));
    expect(last.headers.get("cache-control")).toBe("public, max-age=0, must-revalidate, no-transform");
    expect(last.headers.get("sunset")).toBe("Mon, 02 Mar 2026 12:00:00 GMT");
    expect(Buffer.from(await last.arrayBuffer()).length).toBeGreaterThan(100);
    clock.now += 1;
    expect(await statusesOf(site, image)).toEqual([410]);
    clock.now -= DAY;
    expect(await statusesOf(site, image)).toEqual([410]);
    clock.now += DAY;
    await site.images.sweep();
    const left = await filesOf(site, image);
    expect(left.filter((path) => /original|renditions/.test(path))).toEqual([]);
    expect(left.some((path) => path.includes("record"))).toBe(true);
    clock.now += 30 * DAY;
    const unknown = await fetch(addressOf(site, image.id, "json"));
    expect(unknown.status).toBe(404);
    await site.images.sweep();
    expect(await filesOf(site, image)).toEqual([]);
    expect(await statusesOf(site, kept)).toEqual([200, 206, 304]);
    expect(site.errors).toEqual([]);
  });

  test("an image that another process withholds is refused at every address until its release", async () => {
    const image = await upload(site, await pngPhoto(40, 30), "image/png");
    expect(await statusesOf(site, image)).toEqual([200, 206, 304]);
    const storage = createFsBlobStore({ directory: site.directory });
    const admin = createImageAdmin({ storage, now: () => clock.now });
    await admin.withhold(image.id, {
      reason: "By order of the court.",
      authority: "https://court.example/7",
    });
    expect(await statusesOf(site, image)).toEqual([451]);
    const refused = await fetch(addressOf(site, image.id, "gif"));
    expect(refused.headers.get("link")).toBe('<https://court.example/7>; rel="blocked-by"');
    expect(await refused.json()).toMatchObject({ status: 451, detail: "By order of the court." });
    const page = await fetch(`${site.base}/${image.id}`, { headers: HTML });
    expect([page.status, page.headers.get("content-type")]).toEqual([451, "text/html; charset=utf-8"]);
    expect(await page.text()).toContain("By order of the court.");
    const json = `${addressOf(site, image.id, "json")}?pin=${image.pin}`;
    const form = new URLSearchParams({ pin: image.pin, action: "delete", confirm: "yes" });
    const edits = [
      fetch(`${json}&name=Renamed`, { method: "PATCH" }),
      fetch(json, { method: "DELETE" }),
      fetch(image.editUrl),
      fetch(`${site.base}/${image.id}/edit`, { method: "POST", body: form, redirect: "manual" }),
    ];
    expect((await Promise.all(edits)).map(({ status }) => status)).toEqual([451, 451, 451, 451]);
    await admin.release(image.id);
    await admin.close();
    expect(await statusesOf(site, image)).toEqual([200, 206, 304]);
    expect(site.errors).toEqual([]);
  });
});
test("a service sweeps in the background while it serves requests", async () => {
  const removed: string[] = [];
  const onRemoved: ImagesOptions["onRemoved"] = ({ id }, why) => removed.push(`${why} ${id}`);
  let aheadMs = 0;
  const site = await startSite({ sweepEveryMs: 1000, onRemoved, now: () => Date.now() + aheadMs });
  try {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const image = await upload(site, await pngPhoto(40, 30), "image/png", { expiresAt });
    const originals = async () => (await filesOf(site, image)).filter((path) => path.includes("original"));
    expect((await originals()).length).toBeGreaterThan(0);
    aheadMs = 3_600_000;
    await expect.poll(originals).toEqual([]);
    expect(removed).toEqual([`expired ${image.id}`]);
    expect((await fetch(image.url)).status).toBe(410);
    expect(site.errors).toEqual([]);
  } finally {
    await site.close();
  }
});
