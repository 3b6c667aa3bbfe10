import { once } from "node:events";
import { OutgoingMessage, type RequestListener, type ServerResponse } from "node:http";
import http2 from "node:http2";
import { express } from "@outrigger/express";
import { koa } from "@outrigger/koa";
import { nodeListener } from "@outrigger/node";
import express5 from "express";
import Koa3 from "koa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listen, serveHost } from "./support/listen.ts";
import { jpegPhoto } from "./support/pictures.ts";
import { startSite } from "./support/quick-site.ts";
import { type Created, type Site, upload } from "./support/service.ts";

const COOKIE = "connect.sid=s%3Aone-client; Path=/; HttpOnly";
const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

type Setter = (res: ServerResponse) => void;

/** Calls `listener` before the head is written, as `on-headers` does for sessions. */
function onHeaders(res: ServerResponse, listener: () => void): void {
  const { writeHead } = res;
  let isFired = false;
  Reflect.set(res, "writeHead", (status: number, ...given: unknown[]) => {
    const [headers] = given.slice(-1);
    res.statusCode = status;
    if (Array.isArray(headers)) throw new Error("Older versions read a list as pairs");
    for (const [name, value] of Object.entries(Object(headers))) res.setHeader(name, String(value));
    if (!isFired) listener();
    isFired = true;
    return Reflect.apply(writeHead, res, [res.statusCode]);
  });
}

/** The ways in which middleware before the mount sets a cookie. */
const SETTERS: Record<string, Setter> = {
  "at once": (res) => res.setHeader("Set-Cookie", [COOKIE, "b=2"]),
  "by appendHeader": (res) => void res.appendHeader("set-cookie", COOKIE),
  "as the head is written, as express-session does": (res) =>
    onHeaders(res, () => res.setHeader("Set-Cookie", COOKIE)),
  "as the head is written, past the reply's own setHeader, as cookie-session does": (res) =>
    onHeaders(res, () => {
      OutgoingMessage.prototype.setHeader.call(res, "Set-Cookie", [COOKIE]);
    }),
  "by an argument of writeHead": (res) => {
    const { writeHead } = res;
    Reflect.set(res, "writeHead", (status: number) =>
      Reflect.apply(writeHead, res, [status, { "Set-Cookie": COOKIE }]),
    );
  },
  "after its session is saved, in a delayed end": (res) => {
    onHeaders(res, () => res.setHeader("Set-Cookie", COOKIE));
    const { end } = res;
    Reflect.set(res, "end", (...given: unknown[]) => {
      setImmediate(() => Reflect.apply(end, res, given));
      return res;
    });
  },
};

let site: Site;
let image: Created;
beforeAll(async () => {
  site = await startSite();
  image = await upload(site, await jpegPhoto(90, 60), "image/jpeg");
});
afterAll(() => site.close());

/** Hosts whose middleware sets a cookie on every reply. */
function hostsFor(set: Setter): Record<string, RequestListener> {
  const inExpress = (app: ReturnType<typeof express5>) => {
    app.use((_req, res, next) => {
      set(res);
      next();
    });
    app.use("/img", express(site.images));
    app.get("/host", (_req, res) => void res.send("the host's own"));
    return app;
  };
  const inKoa = (app: Koa3) => {
    app.use((ctx: { res: ServerResponse }, next: () => Promise<unknown>) => {
      set(ctx.res);
      return next();
    });
    app.use(koa(site.images, { prefix: "/img" }));
    app.use((ctx: { body: unknown }) => {
      ctx.body = "the host's own";
    });
    return app.callback();
  };
  const listener = nodeListener(site.images, { mountPath: "/img" });
  return {
    "Express 5": inExpress(express5()),
    "Koa 3": inKoa(new Koa3()),
    "node:http": (req, res) => {
      set(res);
      if (req.url?.startsWith("/img")) listener(req, res);
      else res.end("the host's own");
    },
  };
}

/** Requests every kind of reply, each twice: the second of an image comes from memory. */
async function expectNoSharedCookie(origin: string): Promise<void> {
  const { id } = image;
  const etag = (await fetch(`${origin}/img/api/images/${id}.png`)).headers.get("etag") ?? "";
  const shared: [string, RequestInit, number][] = [
    [`/api/images/${id}.png`, {}, 200],
    [`/api/images/${id}.jpg`, { method: "HEAD" }, 200],
    [`/api/images/${id}.png`, { headers: { "If-None-Match": etag } }, 304],
    [`/api/images/${id}.jpg`, { headers: { Range: "bytes=0-9" } }, 206],
    [`/${id}`, {}, 200],
    [`/${id}`, { headers: BROWSER }, 200],
    [`/${id}/view`, { headers: BROWSER }, 200],
    ["/", { headers: BROWSER }, 200],
  ];
  for (const [path, init, status] of [...shared, ...shared]) {
    const reply = await fetch(`${origin}/img${path}`, init);
    await reply.arrayBuffer();
    const { headers } = reply;
    const seen = [path, reply.status, headers.get("cache-control"), headers.getSetCookie()];
    const caching = expect.stringMatching(path.startsWith("/api") ? /^public, max-age=300/ : /^no-cache$/);
    expect(seen).toEqual([path, status, caching, []]);
  }
  // Replies that no cache keeps, and those of the host, keep the cookie.
  for (const path of [`/img/api/images/${id}.json`, "/host"]) {
    const kept = await fetch(origin + path);
    expect([path, kept.status, kept.headers.getSetCookie()[0]]).toEqual([path, 200, COOKIE]);
  }
}

describe.each(Object.entries(SETTERS))("cookies that middleware sets %s", (_how, set) => {
  test.each(["Express 5", "Koa 3", "node:http"])(
    "no reply that a shared cache may store has them in %s; all others do",
    async (name) => {
      const listener = hostsFor(set)[name];
      if (listener === undefined) throw new Error(`There is no host ${name}`);
      const { origin, close } = await serveHost(listener);
      await expectNoSharedCookie(origin).finally(close);
    },
  );
});

test("a session of Koa that commits after the middleware has returned sets no cookie on a shared reply", async () => {
  const app = new Koa3();
  app.use(async (ctx: Koa3.Context, next: () => Promise<unknown>) => {
    try {
      await next();
    } finally {
      const [name = "", value = ""] = COOKIE.split(/[=;]/);
      ctx.cookies.set(name, value);
    }
  });
  app.use(koa(site.images, { prefix: "/img" }));
  const { origin, close } = await serveHost(app.callback());
  try {
    const paths = [`/api/images/${image.id}.png`, `/api/images/${image.id}.png`, `/${image.id}/view`, "/"];
    for (const path of paths) {
      const reply = await fetch(`${origin}/img${path}`);
      expect([path, reply.status, reply.headers.getSetCookie()]).toEqual([path, 200, []]);
    }
    const record = await fetch(`${origin}/img/api/images/${image.id}.json`);
    expect(record.headers.getSetCookie()).toHaveLength(1);
  } finally {
    await close();
  }
});

test.each(["Koa 3", "node:http"])(
  "over HTTP/2 in %s, a cookie that is set as the head is written reaches no reply that a shared cache may store",
  async (name) => {
    // `OutgoingMessage` is of HTTP/1 only.
    const setters = Object.entries(SETTERS).filter(([how]) => !how.includes("past the reply's own"));
    for (const [, set] of setters) {
      const server = http2.createServer();
      server.on("request", (...given: unknown[]) => Reflect.apply(Object(hostsFor(set)[name]), null, given));
      const { origin, close } = await listen(server);
      const client = http2.connect(origin);
      for (const path of [
        `/api/images/${image.id}.png`,
        `/api/images/${image.id}.png`,
        `/${image.id}`,
        "/host",
      ]) {
        const stream = client.request({ ":path": path === "/host" ? path : `/img${path}` });
        const [headers] = await once(stream, "response");
        stream.resume();
        await once(stream, "close");
        expect([path, headers[":status"], headers["set-cookie"] !== undefined]).toEqual([
          path,
          200,
          path === "/host",
        ]);
      }
      client.close();
      await close();
    }
  },
);

test("a reply that middleware around the mount makes private keeps its cookie", async () => {
  const app = new Koa3();
  app.use(async (ctx, next) => {
    await next();
    ctx.set("Cache-Control", "private, max-age=60");
    ctx.set("Set-Cookie", COOKIE);
  });
  app.use(koa(site.images, { prefix: "/img" }));
  const { origin, close } = await serveHost(app.callback());
  const { headers } = await fetch(`${origin}/img/api/images/${image.id}.png`);
  expect([headers.get("cache-control"), headers.getSetCookie()]).toEqual(["private, max-age=60", [COOKIE]]);
  await close();
});

test("replies to the clients that authorize tells apart are private and keep the cookie", async () => {
  const own = await startSite({ authorize: () => ({ owner: "anna" }) });
  const { id } = await own.images.add(await jpegPhoto(9, 6));
  const app = express5();
  app.use((_req, res, next) => void next(res.cookie("a", "1") && undefined));
  app.use("/img", express(own.images));
  const { origin, close } = await serveHost(app);
  for (let round = 0; round < 2; round++) {
    const { headers } = await fetch(`${origin}/img/api/images/${id}.png`);
    expect(headers.get("cache-control")).toMatch(/^private, /);
    expect(headers.getSetCookie()).toEqual(["a=1; Path=/"]);
  }
  await close();
  await own.close();
});
