import { readdir } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { type Authorize, createFsBlobStore, createImageAdmin, type ImagesOptions } from "@outrigger/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HostLog, keepHostLog } from "./hostile/host-log.ts";
import type { HostName } from "./support/hosts.ts";
import { openUpload } from "./support/open-upload.ts";
import { jpegPhoto, pngPhoto } from "./support/pictures.ts";
import { postWithHeaders } from "./support/post-with-headers.ts";
import {
  addressOf,
  type Created,
  type Site,
  type SiteOptions,
  startSite,
  upload,
} from "./support/service.ts";

const DAY = 86_400_000;
const FORMATS = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];
const HOSTS: HostName[] = ["Express 5", "Koa 3"];
const HTML = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

/** A site in a host whose clock a test moves. */
async function startTimedSite(options: SiteOptions): Promise<{ site: Site; clock: { now: number } }> {
  const clock = { now: Date.parse("2026-03-01T12:00:00.000Z") };
  return { site: await startSite({ now: () => clock.now, sweepEveryMs: false, ...options }), clock };
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

describe.each(HOSTS)("through %s", (host) => {
  let site: Site;
  let clock: { now: number };
  beforeAll(async () => {
    ({ site, clock } = await startTimedSite({ host }));
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
    expect(left.filter((path) => /original|renditions|failures/.test(path))).toEqual([]);
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

/** Who a client says to be, where both frameworks have it. */
function userOf(context: unknown): string | undefined {
  const { headers } = context as { headers: Record<string, string | undefined> }; // A request or a Koa context.
  return headers["x-user"];
}

/** Members upload, see what is theirs, and edit that without a PIN. */
const members: Authorize = ({ context }, action, image) => {
  const owner = userOf(context);
  if (owner === undefined) return false;
  return action === "read" ? image?.owner === owner : { owner };
};

describe.each(HOSTS)("with rules of the host's, through %s", (host) => {
  let site: Site;
  let log: HostLog;
  beforeAll(async () => {
    log = keepHostLog();
    site = await startSite({ host, authorize: members, ownerLimits: { images: 1 } });
  });
  afterAll(async () => {
    await site.close();
    log.restore();
    expect(log.unexpected()).toEqual([]);
  });

  const as = (user: string) => ({ headers: { "X-User": user } });

  test("only the owner sees and edits an image, within the quota of the owner", async () => {
    const picture = await pngPhoto(40, 30);
    const image = (await (
      await postWithHeaders(site, picture, "image/png", { "X-User": "anna" })
    ).json()) as Created;
    const second = await postWithHeaders(site, picture, "image/png", { "X-User": "anna" });
    expect([second.status, (await second.json()).detail]).toEqual([
      403,
      "At most 1 images at a time: delete one, or wait until one expires",
    ]);
    const png = addressOf(site, image.id, "png");
    const own = await fetch(png, as("anna"));
    expect([own.status, own.headers.get("cache-control")]).toEqual([
      200,
      "private, max-age=300, must-revalidate, no-transform",
    ]);
    const tag = { "If-None-Match": String(own.headers.get("etag")), "X-User": "berta" };
    for (const answer of [
      await fetch(png),
      await fetch(png, as("berta")),
      await fetch(png, { headers: tag }),
    ]) {
      expect([answer.status, (await answer.json()).detail]).toEqual([403, "This is not allowed"]);
    }
    const form = await fetch(`${site.base}/${image.id}/edit`, as("anna"));
    expect(form.status).toBe(200);
    expect(await form.text()).toContain(image.pin);
    expect((await fetch(`${site.base}/${image.id}/edit`, as("berta"))).status).toBe(403);
    const forged = new URLSearchParams({ action: "delete", confirm: "yes" });
    const posted = await fetch(`${site.base}/${image.id}/edit`, {
      method: "POST",
      body: forged,
      ...as("anna"),
    });
    expect(posted.status).toBe(403);
    const removed = await fetch(addressOf(site, image.id, "json"), { method: "DELETE", ...as("anna") });
    expect(removed.status).toBe(204);
    expect((await postWithHeaders(site, picture, "image/png", { "X-User": "anna" })).status).toBe(201);
    expect(site.errors).toEqual([]);
  });

  test("a forbidden upload is answered before its body arrives", async () => {
    const type = "multipart/form-data; boundary=x";
    const { outgoing, answered } = openUpload(site, { "Content-Type": type, "Transfer-Encoding": "chunked" });
    outgoing.write("--x\r\n");
    const answer = await answered;
    expect(answer.statusCode).toBe(403);
    outgoing.end();
    await buffer(answer);
  });
});

test("a service sweeps in the background while it serves requests", async () => {
  const removed: string[] = [];
  const onRemoved: ImagesOptions["onRemoved"] = ({ id }, why) => removed.push(`${why} ${id}`);
  const site = await startSite({ sweepEveryMs: 1000, onRemoved });
  try {
    const expiresAt = new Date(Date.now() + 1500).toISOString();
    const image = await upload(site, await pngPhoto(40, 30), "image/png", { expiresAt });
    const originals = async () => (await filesOf(site, image)).filter((path) => path.includes("original"));
    expect((await originals()).length).toBeGreaterThan(0);
    await expect.poll(originals, { timeout: 20_000 }).toEqual([]);
    expect(removed).toEqual([`expired ${image.id}`]);
    expect((await fetch(image.url)).status).toBe(410);
    expect(site.errors).toEqual([]);
  } finally {
    await site.close();
  }
});
