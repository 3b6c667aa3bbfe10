import { express } from "@outrigger/express";
import { koa } from "@outrigger/koa";
import expressApp from "express";
import Koa from "koa";
import bodyParser from "koa-bodyparser";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Host, serveHost } from "./support/listen.ts";
import { jpegPhoto } from "./support/pictures.ts";
import { type Site, startSite, withSite } from "./support/service.ts";

const photo = await jpegPhoto(60, 40);
/** The server that images are imported from. */
let files: Host;
/** An option that permits it: it is on this machine. */
let importUrls: { internalHosts: string[] };

beforeAll(async () => {
  files = await serveHost((req, res) => {
    if (req.url?.startsWith("/photo")) res.setHeader("Content-Type", "text/plain").end(photo);
    else res.writeHead(404).end("secret of an internal service");
  });
  importUrls = { internalHosts: [new URL(files.origin).host] };
});
afterAll(() => files.close());

const post = ({ base }: Pick<Host, "base">, body: unknown, suffix = "json") =>
  fetch(`${base}/api/images.${suffix}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

test("a create with a URL stores and serves the image at that URL", async () => {
  await withSite({ importUrls }, async (site) => {
    const reply = await post(site, { url: `${files.origin}/photo/dusk.jpg?key=1` });
    expect(reply.status).toBe(201);
    const { id, name, type, width, url } = await reply.json();
    expect({ name, type, width }).toEqual({ name: "dusk.jpg", type: "image/jpeg", width: 60 });
    expect([reply.headers.get("Location"), reply.headers.get("X-Service-Image-Id")]).toEqual([url, id]);
    const read = await fetch(`${site.base}/api/images/${id}.png?resize=30x`);
    expect([read.status, read.headers.get("Content-Type")]).toEqual([200, "image/png"]);
    const text = await post(site, { url: `${files.origin}/photo` }, "txt");
    expect([text.status, await text.text()]).toEqual([201, expect.stringMatching(/^http\S+\n$/)]);
  });
});

test("addresses of this machine get 400 without the option internalHosts", async () => {
  await withSite({ importUrls: true }, async (site) => {
    const details = new Set<string>();
    for (const name of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "10.255.255.1"]) {
      const reply = await post(site, { url: `http://${name}/photo` });
      expect([reply.status, reply.headers.get("Content-Type")]).toEqual([
        400,
        "application/problem+json; charset=utf-8",
      ]);
      details.add((await reply.json()).detail);
    }
    expect([...details]).toEqual([expect.stringContaining("could not be fetched")]);
  });
});

test("JSON gets 415 without the option importUrls", async () => {
  await withSite({}, async (site) => {
    const reply = await post(site, { url: `${files.origin}/photo` });
    const { detail } = await reply.json();
    expect([reply.status, detail]).toEqual([415, expect.stringContaining("does not import images by URL")]);
  });
});

describe("with the option importUrls", () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite({ importUrls });
  });
  afterAll(() => site.close());

  test.each([
    ["", 400],
    ["{", 400],
    ["[]", 400],
    ["null", 400],
    [`{"url": "${"a".repeat(17_000)}"}`, 413],
  ])("the body %j gets %i", async (body, status) => {
    expect((await post(site, body)).status).toBe(status);
  });

  test("other bodies than forms and JSON get 415, and forms are taken as ever", async () => {
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const body = `url=${encodeURIComponent(`${files.origin}/photo`)}`;
    const reply = await fetch(`${site.base}/api/images.json`, { method: "POST", headers, body });
    expect(reply.status).toBe(415);
    const form = new FormData();
    form.set("imagedata", new Blob([new Uint8Array(photo)], { type: "image/jpeg" }), "a.jpg");
    expect((await fetch(`${site.base}/api/images.json`, { method: "POST", body: form })).status).toBe(201);
  });

  test("a failed import does not tell what the other server said", async () => {
    const text = await (await post(site, { url: `${files.origin}/missing` })).text();
    expect(text).toContain("could not be fetched");
    expect(text).not.toMatch(/404|secret|127\.0\.0\.1/);
  });
  test("images.add({ url }) needs no permission, obeys the same rules, and tells the host the cause", async () => {
    await withSite({}, async ({ images }) => {
      await expect(images.add({ url: `${files.origin}/photo` })).rejects.toMatchObject({
        code: "bad_request",
        message: "url must have one of the ports 80, 443",
      });
      await expect(images.add({ url: "http://127.0.0.1/photo" })).rejects.toMatchObject({
        code: "bad_request",
        cause: expect.objectContaining({ message: "the host has no public address (1 others)" }),
      });
    });
    const given = { name: "Named", expiresAt: Date.now() + 3_600_000, idempotencyKey: "once" };
    const first = await site.images.add({ url: new URL(`${files.origin}/photo`) }, given);
    const again = await site.images.add({ url: `${files.origin}/photo` }, given);
    expect([first.name, again.id]).toEqual(["Named", first.id]);
    const controller = new AbortController();
    controller.abort(new Error("enough"));
    const { signal } = controller;
    await expect(site.images.add({ url: `${files.origin}/photo` }, { signal })).rejects.toThrow("enough");
  });
});

test("a body that the host has parsed is used, in Express and Koa", async () => {
  const site = await startSite({ importUrls });
  const app = expressApp().use(expressApp.json()).use("/img", express(site.images));
  const inKoa = new Koa().use(bodyParser()).use(koa(site.images, { prefix: "/img" }));
  for (const listener of [app, inKoa.callback()]) {
    const host = await serveHost(listener, "/img");
    expect((await post(host, { url: `${files.origin}/photo` })).status).toBe(201);
    await host.close();
  }
  await site.close();
});
