import type { RequestListener } from "node:http";
import type { Renderer } from "@outrigger/core/images";
import { express as mount } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { koa } from "@outrigger/koa";
import express from "express";
import Koa from "koa";
import multer from "multer";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { serve, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import { startLookupSite } from "./lookup/lookup-site.ts";
import { amiss, examine } from "./support/examine-mount.ts";
import { freePort, serveHost } from "./support/listen.ts";
import { type Site, type SiteOptions, startSite } from "./support/service.ts";
import { startSpoilingProxy } from "./support/spoiling-proxy.ts";

/** What a mount with everything is looked at for, but for fonts. */
const EVERYTHING = [
  ...["mount", "TLS", "upload", "clock", "addresses", "requests", "replies", "pictures", "Cache-Control"],
  ...["sizes", "pages", "PATCH", "shared storage", "requests"],
  ...["large upload", "large picture", "slow upload", "DELETE", "shared storage", "after deletion"],
];

const renderer = createRenderer();
/** For many services: who is the first to close would end it for all. */
const sharedRenderer: Renderer = { ...renderer, close: async () => undefined };

let site: Site;
/** Images that were stored and are not removed. */
const alive = new Set<string>();
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  site = await startSite({
    renderer: sharedRenderer,
    sizes: "steps",
    onStored: ({ id }) => alive.add(id),
    onRemoved: ({ id }) => alive.delete(id),
  });
});
afterAll(async () => {
  await site.close();
  await renderer.close();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listen(listener: RequestListener): Promise<string> {
  const { origin, close } = await serveHost(listener);
  closing.push(close);
  return origin;
}

async function another(options: SiteOptions): Promise<Site> {
  const started = await startSite({ renderer: sharedRenderer, sizes: "steps", ...options });
  closing.push(() => started.close());
  return started;
}

describe("doctor of a correct mount", () => {
  const app = express();
  const parsing = express();
  const uploading = express();
  const inKoa = new Koa();
  beforeAll(() => {
    app.use("/img", mount(site.images));
    parsing.use(express.json(), express.urlencoded(), express.text());
    parsing.use("/img", mount(site.images));
    uploading.use(multer().any());
    uploading.use("/img", mount(site.images));
    inKoa.use(koa(site.images, { prefix: "/img" }));
  });

  it.each<[string, () => RequestListener]>([
    ["in Express", () => app],
    ["in Koa", () => inKoa.callback()],
    ["behind express.json() and express.urlencoded(), which leave what they parsed", () => parsing],
    ["behind multer, which leaves the file", () => uploading],
  ])("doctor finds no problem and leaves no image in a mount %s", async (_where, listener) => {
    const findings = await examine(`${await listen(listener())}/img`);
    expect(amiss(findings)).toEqual([]);
    const checks = findings.map(({ check }) => check).filter((check) => !/^fonts$| text$/.test(check));
    expect(checks).toEqual(EVERYTHING);
    expect([...alive]).toEqual([]);
  });

  it("doctor checks outrigger serve with its lookup", async () => {
    const server = serve(await temporaryDirectory(), ["--demo"]);
    const findings = await examine(await server.url);
    expect(amiss(findings).map(({ check }) => check)).toEqual(["sizes"]);
  });

  it("doctor recognises a mount of the lookup alone", async () => {
    const lookup = await startLookupSite();
    closing.push(() => lookup.close());
    expect((await examine(lookup.base)).map(({ check, status }) => `${status} ${check}`)).toEqual([
      "ok mount",
    ]);
  });

  it("doctor finds no problem with signed addresses", async () => {
    expect(amiss(await examine((await another({ sizes: "signed" })).base))).toEqual([]);
  });

  it("doctor warns of unrestricted sizes without a cache in front, and not behind one", async () => {
    const { base, origin } = await another({ sizes: "any", tls: "off" });
    expect(amiss(await examine(base))).toEqual([
      {
        check: "sizes",
        status: "warning",
        detail: "any client can request any size, and no reply header shows a cache in front",
        remedy: 'Set sizes: "steps" or "signed", or put a cache in front',
      },
    ]);
    const proxy = await startSpoilingProxy(() => origin, {
      reply: (_incoming, passed) => ({ ...passed, headers: { ...passed.headers, age: "3" } }),
    });
    closing.push(() => proxy.close());
    expect(amiss(await examine(`${proxy.origin}/img`))).toEqual([]);
  });

  it("doctor reports no pages for a service without pages", async () => {
    const { base } = await another({ pages: false });
    const findings = await examine(base);
    expect(amiss(findings)).toEqual([]);
    expect(findings.map(({ check }) => check)).not.toContain("pages");
  });
});

describe("doctor of a faulty mount", () => {
  it("doctor names a body parser that consumes uploads", async () => {
    const app = express();
    app.use(express.raw({ type: () => true }));
    app.use("/img", mount(site.images));
    const [found, ...others] = amiss(await examine(`${await listen(app)}/img`));
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      check: "upload",
      status: "problem",
      detail: expect.stringContaining("500 (The host app read the request body"),
      remedy: expect.stringContaining("Mount Outrigger before body parsers"),
    });
  });

  it("doctor names a wrong publicUrl and the right one", async () => {
    const { base } = await another({ publicUrl: "https://elsewhere.example/img" });
    expect(amiss(await examine(base))).toEqual([
      {
        check: "addresses",
        status: "problem",
        detail: expect.stringMatching(
          /^replies name https:\/\/elsewhere\.example\/img\/[\w-]{22}, but the request went to /,
        ),
        remedy: expect.stringContaining("Set publicUrl to the address of the request"),
      },
    ]);
  });

  it("doctor reports an address beside the mount", async () => {
    for (const base of [site.origin, `${site.base}/api/images`, `${site.origin}/pictures`]) {
      expect(await examine(base)).toEqual([
        expect.objectContaining({
          check: "mount",
          status: "problem",
          detail: expect.stringMatching(/: 404 /),
        }),
      ]);
    }
  });

  it("doctor reports a host without a mount", async () => {
    const origin = await listen(express().get("/", (_req, res) => void res.send("another site")));
    expect(await examine(`${origin}/img`)).toEqual([
      {
        check: "mount",
        status: "problem",
        detail: expect.stringMatching(/\/img: 404 with text\/html, not Outrigger's$/),
        remedy: expect.stringContaining("check address"),
      },
    ]);
  });

  it("doctor reports a port without a server", async () => {
    const base = `http://127.0.0.1:${await freePort()}/img`;
    expect(await examine(base)).toEqual([
      {
        check: "mount",
        status: "problem",
        detail: `${base}: nothing listens at this address`,
        remedy: expect.stringContaining("Start the app"),
      },
    ]);
  });

  it("doctor reports plain HTTP where the service requires TLS", async () => {
    const origin = await listen((_req, res) => void res.end());
    expect(await examine(origin.replace("http:", "https:"))).toEqual([
      expect.objectContaining({ check: "mount", detail: expect.stringContaining("does not speak TLS") }),
    ]);
  });

  it("doctor reports refused uploads, and sends the given header", async () => {
    const { base } = await another({
      authorize: ({ headers }, action) => action !== "create" || headers["x-key"] === "let me in",
    });
    const refused = await examine(base);
    expect(amiss(refused)).toEqual([
      {
        check: "upload",
        status: "warning",
        detail: expect.stringContaining("answers 403"),
        remedy: expect.stringContaining("send the credentials of the app with --header"),
      },
    ]);
    expect(refused.map(({ check }) => check)).toEqual(["mount", "TLS", "upload"]);
    const let_in = await examine(base, { headers: { "X-Key": "let me in" } });
    expect(let_in.map(({ check }) => check)).toContain("large upload");
  });

  it.each([
    [3600_000, "problem", /^3[56]\d\d s ahead of this machine's$/],
    [-30_000, "warning", /^(?:2\d|30) s behind this machine's$/],
  ])("doctor reports a clock that is %i ms off", async (aheadMs, status, detail) => {
    const { base } = await another({ now: () => Date.now() + aheadMs });
    expect(amiss(await examine(base))).toEqual([
      {
        check: "clock",
        status,
        detail: expect.stringMatching(detail),
        remedy: expect.stringContaining("NTP"),
      },
    ]);
  });

  it("doctor detects processes behind one address that do not share a storage", async () => {
    const [one, two] = [site, await another({})];
    let turn = 0;
    const split = await startSpoilingProxy(() => (turn++ % 3 === 2 ? two : one).origin);
    closing.push(() => split.close());
    const problems = amiss(await examine(`${split.origin}/img`)).filter(({ status }) => status === "problem");
    expect(problems.map(({ remedy }) => remedy)).toContainEqual(
      expect.stringContaining("Configure the same storage and secret for all processes"),
    );
    alive.clear();
  });
});
