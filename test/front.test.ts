import { mkdtemp, rm } from "node:fs/promises";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFsBlobStore, createImages, type Images, type ImagesOptions } from "@outrigger/core";
import { express } from "@outrigger/express";
import { koa } from "@outrigger/koa";
import { front } from "@outrigger/node";
import { createHeaderRenderer } from "@outrigger/testing";
import expressApp from "express";
import Koa from "koa";
import { afterEach, expect, test } from "vitest";
import { listen, serveHost } from "./support/listen.ts";
import { pngPhoto } from "./support/pictures.ts";

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

interface Fronted {
  images: Images;
  base: string;
  /** The targets of the requests that reached the framework. */
  passed: string[];
  /** The address of a picture that was read before. */
  url: string;
}

/** A picture in memory, behind a front of an app that notes its requests. */
async function startFronted(
  options: Partial<ImagesOptions> = {},
  host: "Express" | "Koa" = "Express",
): Promise<Fronted> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-front-"));
  const images = createImages({
    storage: createFsBlobStore({ directory }),
    renderer: createHeaderRenderer(),
    asyncAfterMs: false,
    ...options,
  });
  const passed: string[] = [];
  const app = host === "Express" ? appOf(images, passed) : koaOf(images, passed);
  const running = await serveHost(front(images, app, { at: "/img" }));
  endings.push(
    () => rm(directory, { recursive: true }),
    () => images.close(),
    () => running.close(),
  );
  const base = `${running.origin}/img`;
  const { id } = await images.add(await pngPhoto(40, 30), { name: "photo.png" });
  const url = `${base}/api/images/${id}.webp?resize=20x`;
  expect((await fetch(url)).status).toBe(200);
  passed.length = 0;
  return { images, base, passed, url };
}

function appOf(images: Images, passed: string[]) {
  const app = expressApp();
  app.set("trust proxy", true);
  app.use((req, res, next) => {
    passed.push(req.originalUrl);
    res.setHeader("X-From-App", "1");
    next();
  });
  app.use("/img", express(images));
  return app;
}

function koaOf(images: Images, passed: string[]) {
  const app = new Koa();
  app.use(async (ctx, next) => {
    passed.push(ctx.originalUrl);
    ctx.set("X-From-App", "1");
    await next();
  });
  app.use(koa(images, { prefix: "/img" }));
  return app.callback();
}

/** Status, headers without those of time and app, and bytes. */
async function read(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init);
  const headers = Object.fromEntries(response.headers);
  for (const name of ["date", "x-from-app", "x-powered-by"]) delete headers[name];
  // Koa removes it.
  if (response.status === 304) delete headers["content-type"];
  return { status: response.status, headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

test.each(["Express", "Koa"] as const)(
  "a front of %s sends a picture in memory as the app would, and the app does not see the request",
  async (host) => {
    const { url, passed } = await startFronted({ tls: "off" }, host);
    const { etag = "" } = (await read(url)).headers;
    for (const method of ["GET", "HEAD"]) {
      for (const condition of [{}, { "If-None-Match": etag }, { "If-None-Match": '"other"' }]) {
        passed.length = 0;
        const answer = await read(url, { method, headers: condition });
        expect(passed).toEqual([]);
        // The app answers a request with a forwarding header.
        const usual = await read(url, { method, headers: { ...condition, Via: "1.1 proxy" } });
        expect(passed).toHaveLength(1);
        expect(answer).toEqual(usual);
      }
    }
  },
);

test("a front sends .auto from memory in the format that each client accepts", async () => {
  const { url, passed } = await startFronted({ tls: "off" });
  const auto = url.replace(".webp", ".auto");
  for (const [accept, type] of [
    ["image/webp,*/*;q=0.8", "image/webp"],
    ["*/*", "image/jpeg"],
  ] as const) {
    const first = await read(auto, { headers: { Accept: accept } });
    passed.length = 0;
    expect(await read(auto, { headers: { Accept: accept } })).toEqual(first);
    expect(passed).toEqual([]);
    expect(first.headers).toMatchObject({ "content-type": type, vary: "Accept" });
  }
});

test("a front passes every other request to the app, without a trace", async () => {
  const { url, base, passed, images } = await startFronted();
  type Other = [string, RequestInit, number];
  const others: Other[] = [
    [url, { headers: { Range: "bytes=0-3" } }, 206],
    [url, { headers: { "If-Match": '"other"' } }, 412],
    [url, { method: "OPTIONS" }, 204],
    [url.replace("20x", "19x"), {}, 200],
    [url.replace("/img/", "/other/"), {}, 404],
    [base.replace("/img", "/"), {}, 404],
    // Behind a proxy, the app requires TLS.
    ...["X-Forwarded-For", "Forwarded", "Via"].map((name): Other => [url, { headers: { [name]: "a" } }, 403]),
    ...["X-Real-IP", "CF-Connecting-IP"].map((name): Other => [url, { headers: { [name]: "a" } }, 200]),
  ];
  for (const [address, init, status] of others) {
    passed.length = 0;
    const response = await fetch(address, init);
    await response.arrayBuffer();
    expect([address, init, response.status]).toEqual([address, init, status]);
    expect(passed).toHaveLength(1);
    expect(response.headers.get("x-from-app")).toBe("1");
  }
  await images.close();
  expect((await fetch(url)).status).toBe(503);
});

test("a front passes every request to the app if the service has authorize", async () => {
  const { url, passed } = await startFronted({ authorize: () => undefined });
  expect((await fetch(url)).status).toBe(200);
  expect(passed).toHaveLength(1);
});

test("a front counts reads against the client's limit, together with the app", async () => {
  const { url, passed } = await startFronted({ rateLimits: { reads: 4 } });
  const statuses: number[] = [];
  for (let request = 0; request < 5; request++) statuses.push((await fetch(url)).status);
  // The first read was answered before.
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  expect(passed).toHaveLength(2);
});

test("a front does not serve an image that has expired, or that was deleted", async () => {
  let now = Date.now();
  const expiring = await startFronted({ now: () => now });
  now += 8 * 86_400_000;
  expect((await fetch(expiring.url)).status).toBe(410);
  const { url, images } = await startFronted();
  await images.remove(url.slice(url.indexOf("images/") + 7, url.indexOf(".webp")));
  expect((await fetch(url)).status).toBe(410);
});

test("a front answers HTTP/2, and a wrong app or path throws a TypeError", async () => {
  const { images, url } = await startFronted({ tls: "off" });
  const running = await listen(
    createHttp2Server(front(images, () => expect.fail("passed on"), { at: "/img" }) as never),
  );
  endings.push(() => running.close());
  const session = connectHttp2(running.origin);
  const stream = session.request({ ":path": new URL(url).pathname + new URL(url).search });
  const [headers] = await new Promise<[Record<string, unknown>]>((resolve, reject) => {
    stream.on("response", (...given) => resolve([given[0]])).on("error", reject);
  });
  expect(headers[":status"]).toBe(200);
  await stream.toArray();
  session.close();
  expect(() => front(images, {} as never)).toThrow(TypeError);
  expect(() => front(images, () => {}, { at: "img" })).toThrow(TypeError);
});

test.each(["Express", "Koa"] as const)(
  "a link that permits to read opens a private picture, and the host is asked behind the front (%s)",
  async (host) => {
    const isOpen = { now: true };
    const { images, base, passed, url } = await startFronted(
      {
        publicUrl: "https://pictures.example/img",
        authorize: (call, action) => (action === "read" ? isOpen.now || call.signed === true : true),
      },
      host,
    );
    isOpen.now = false;
    const [, id = ""] = /images\/([\w-]{22})/.exec(url) ?? [];
    const link = await images.address(
      id,
      { format: "webp", resize: "20x" },
      { read: true, until: Date.now() + 95_000 },
    );
    const here = link.replace("https://pictures.example/img", base);
    for (let repeat = 0; repeat < 2; repeat++) {
      const answer = await fetch(here);
      expect([answer.status, answer.headers.get("cache-control")]).toEqual([
        200,
        expect.stringMatching(/^private, max-age=\d\d?,/),
      ]);
      expect((await fetch(url)).status).toBe(403);
    }
    expect(passed).toHaveLength(4);
  },
);
