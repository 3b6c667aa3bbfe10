// Nightly: four proxies with each mistake that doctor finds.
import type { IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { amiss, examine } from "./support/examine-mount.ts";
import { type Site, startSite } from "./support/service.ts";
import { type PassedReply, type Spoiling, startSpoilingProxy } from "./support/spoiling-proxy.ts";

vi.setConfig({ testTimeout: 60_000 });

const MEGABYTE = 1024 * 1024;

let site: Site;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  site = await startSite({ tls: "off", sizes: "steps" });
});
afterAll(() => site.close());
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function startProxy(spoiling: Spoiling): Promise<string> {
  const proxy = await startSpoilingProxy(() => site.origin, spoiling);
  closing.push(() => proxy.close());
  return `${proxy.origin}/img`;
}

/** What doctor finds amiss behind a proxy, and the same as `status check: detail`. */
async function behind(spoiling: Spoiling, patienceMs = 1) {
  const found = amiss(await examine(await startProxy(spoiling), { patienceMs }));
  const texts = found.map(({ check, status, detail }) => `${status} ${check}: ${detail}`);
  return { found, texts, names: found.map(({ check, status }) => `${status} ${check}`) };
}

const without = (...names: string[]) => {
  return <Headers extends object>(headers: Headers): Headers => {
    const left = Object.entries(headers).filter(([name]) => !names.includes(name));
    return Object.fromEntries(left) as Headers; // Less of the same.
  };
};

const withoutReplyHeaders =
  (...names: string[]): NonNullable<Spoiling["reply"]> =>
  (_incoming, passed) => ({ ...passed, headers: without(...names)(passed.headers) });

const page = (status: number, title: string): PassedReply => {
  const body = Buffer.from(`<html><head><title>${title}</title></head></html>`);
  const headers = { "content-type": "text/html", "content-length": String(body.length), server: "nginx" };
  return { status, headers, body };
};

const isPicture = ({ url = "" }: IncomingMessage) => /\.png(\?|$)/.test(url);

describe("doctor behind a proxy", () => {
  it("doctor finds no problem behind a transparent proxy", async () => {
    expect(amiss(await examine(await startProxy({})))).toEqual([]);
  });

  it.each<[string, RegExp[]]>([
    ["etag", [/^warning replies: the ETag of pictures is missing/]],
    ["location", [/^problem addresses: replies name no Location/]],
    ["retry-after", [/^warning replies: Retry-After is missing$/]],
    ["cache-control", [/^warning Cache-Control: of pictures is ""/, /^problem pages: .*no-store/]],
    [
      "content-security-policy",
      [
        /^problem pictures: Content-Security-Policy is changed or missing$/,
        /^problem pages: the upload page .*; the viewer .*; the edit page or its Content-Security-Policy was changed$/,
      ],
    ],
  ])("doctor detects a proxy that removes %s from replies", async (header, expected) => {
    const { texts } = await behind({ reply: withoutReplyHeaders(header) });
    expect(texts).toEqual(expected.map((text) => expect.stringMatching(text)));
  });

  it("doctor warns of a cookie on a picture that shared caches may store", async () => {
    const reply = (_incoming: unknown, passed: PassedReply) => {
      const isPicture = String(passed.headers["content-type"]).startsWith("image/");
      const cookie = isPicture ? { "set-cookie": ["sid=1"] } : {};
      return { ...passed, headers: { ...passed.headers, ...cookie } };
    };
    expect((await behind({ reply })).names).toEqual(["warning Cache-Control"]);
  });

  it.each<[string, RegExp[]]>([
    ["prefer", [/^warning requests: Prefer: respond-async does not arrive$/]],
    ["if-match", [/^warning requests: If-Match does not arrive/]],
    ["if-none-match", [/^warning requests: If-None-Match does not arrive$/]],
    ["range", [/^warning requests: Range answers 200/]],
    [
      "x-service-image-pin",
      [
        /^problem pages: the edit page answers/,
        /^problem PATCH: answers/,
        /^problem DELETE: answers/,
        /^warning leaving/,
      ],
    ],
    ["user-agent", [/^problem upload: answers 400 .*User-Agent/]],
  ])("doctor detects a proxy that removes %s from requests", async (header, expected) => {
    const { texts } = await behind({ requestHeaders: without(header) });
    expect(texts).toEqual(expected.map((text) => expect.stringMatching(text)));
  });

  it("doctor detects a proxy that replaces User-Agent", async () => {
    const requestHeaders: Spoiling["requestHeaders"] = (headers) => ({ ...headers, "user-agent": "Gate/2" });
    expect((await behind({ requestHeaders })).found).toEqual([
      expect.objectContaining({ check: "requests", status: "warning", detail: "User-Agent arrives as Gate" }),
    ]);
  });

  it("doctor detects a proxy that limits uploads to 1 MB with its own error page", async () => {
    const { found } = await behind({
      answer({ headers }, outgoing) {
        if (Number(headers["content-length"]) <= MEGABYTE || !headers["content-length"]) return false;
        const { status, headers: own, body } = page(413, "413 Request Entity Too Large");
        outgoing.writeHead(status, { ...own, connection: "close" }).end(body);
        return true;
      },
    });
    expect(found).toEqual([
      {
        check: "large upload",
        status: "problem",
        detail: "answers 413 with text/html from nginx, not Outrigger's",
        remedy: expect.stringContaining("client_max_body_size"),
      },
    ]);
  });

  it("doctor distinguishes the upload limit of the service from one of a proxy", async () => {
    const small = await startSite({ sizes: "steps", maxUploadBytes: MEGABYTE });
    closing.push(() => small.close());
    expect(amiss(await examine(small.base))).toEqual([
      {
        check: "large upload",
        status: "warning",
        detail: expect.stringContaining("413 (The file is over the limit of 1 MiB"),
        remedy: expect.stringContaining("maxUploadBytes"),
      },
    ]);
  });

  it("doctor detects a proxy that buffers uploads and times out", async () => {
    const { found } = await behind({ buffersRequests: true, requestMs: 900 }, 2000);
    expect(found).toEqual([
      {
        check: "slow upload",
        status: "problem",
        detail: "the connection was cut without a reply",
        remedy: expect.stringContaining("client_body_timeout"),
      },
    ]);
  });

  it.each([["PATCH"], ["DELETE"]])("doctor detects a proxy that forbids %s", async (method) => {
    const { found, names } = await behind({
      answer(incoming, outgoing) {
        if (incoming.method !== method) return false;
        const { status, headers, body } = page(405, "Not Allowed");
        outgoing.writeHead(status, headers).end(body);
        return true;
      },
    });
    expect(names).toEqual([`problem ${method}`, ...(method === "DELETE" ? ["warning leaving"] : [])]);
    expect(found[0]?.remedy).toContain("Allow GET, HEAD, POST, PATCH, DELETE and OPTIONS");
  });

  it("doctor detects a proxy that replaces error pages", async () => {
    const { found } = await behind({
      reply: (_incoming, passed) => (passed.status === 404 ? page(404, "Sorry") : passed),
    });
    expect(found).toEqual([
      {
        check: "replies",
        status: "warning",
        detail: "the reply for an unknown image is 404 with text/html from nginx, not Outrigger's",
        remedy: expect.stringContaining("proxy_intercept_errors off"),
      },
    ]);
  });

  it("doctor detects a proxy that still serves deleted pictures", async () => {
    const kept = new Map<string, PassedReply>();
    const { found } = await behind({
      answer({ method, url = "", headers }, outgoing) {
        const cached = kept.get(url);
        const isPlain = headers.range === undefined && headers["if-none-match"] === undefined;
        if (cached === undefined || method !== "GET" || !isPlain) return false;
        outgoing.writeHead(200, { ...cached.headers, age: "1" }).end(cached.body);
        return true;
      },
      reply(incoming, passed) {
        if (incoming.method === "GET" && passed.status === 200 && isPicture(incoming))
          kept.set(incoming.url ?? "", passed);
        return passed;
      },
    });
    expect(found).toEqual([
      {
        check: "after deletion",
        status: "warning",
        detail: "a cache in front still serves the picture",
        remedy: expect.stringContaining("cacheSeconds"),
      },
    ]);
  });

  it("doctor detects a proxy that compresses and weakens ETags", async () => {
    const { found } = await behind({
      reply({ headers }, passed) {
        const isText = /json|html/.test(passed.headers["content-type"] ?? "");
        if (!isText || !/gzip/.test(String(headers["accept-encoding"]))) return passed;
        const body = gzipSync(passed.body);
        const etag = passed.headers.etag === undefined ? {} : { etag: `W/${passed.headers.etag}` };
        const changed = { "content-encoding": "gzip", "content-length": String(body.length), ...etag };
        return { ...passed, headers: { ...passed.headers, ...changed }, body };
      },
    });
    expect(found).toEqual([
      expect.objectContaining({
        check: "replies",
        status: "warning",
        remedy: expect.stringContaining("gzip off"),
      }),
    ]);
  });

  it("doctor detects a proxy that recompresses pictures and replaces pages and policies", async () => {
    const { texts } = await behind({
      reply(incoming, passed) {
        const policy = { "content-security-policy": "default-src 'self'" };
        if (isPicture(incoming) && passed.status === 200) {
          const body = passed.body.subarray(0, -1);
          const headers = { ...passed.headers, ...policy, "content-length": String(body.length) };
          return { ...passed, headers, body };
        }
        if (!/html/.test(passed.headers["content-type"] ?? "")) return passed;
        const body = Buffer.from(passed.body.toString("utf8").replace("<style>", "<style>/* ours */"));
        return { ...passed, headers: { ...passed.headers, "content-length": String(body.length) }, body };
      },
    });
    expect(texts).toEqual([
      expect.stringMatching(/^warning replies: HEAD has another Content-Length$/),
      expect.stringMatching(/^problem pictures: \d+ of \d+ bytes arrive; Content-Security-Policy is changed/),
      expect.stringMatching(/^problem pages: the upload page .*; the viewer .*; the edit page .*changed$/),
    ]);
  });

  it("doctor follows a redirect, and names a redirected upload", async () => {
    const redirect = (to: () => string): NonNullable<Spoiling["answer"]> => {
      return ({ url = "" }, outgoing) => {
        outgoing.writeHead(301, { location: to() + url }).end();
        return true;
      };
    };
    const [first, ...others] = amiss(
      await examine(await startProxy({ answer: redirect(() => site.origin) })),
    );
    expect(others).toEqual([]);
    expect(first).toMatchObject({ check: "redirect", status: "warning" });
    expect(first?.detail).toContain(`redirects to ${site.base}`);
    const { found } = await behind({
      answer: (incoming, outgoing) =>
        incoming.method === "POST" && redirect(() => "https://www.example")(incoming, outgoing) === true,
    });
    expect(found).toEqual([
      {
        check: "upload",
        status: "problem",
        detail: "answers 301 to https://www.example/img/api/images.json",
        remedy: expect.stringContaining("an upload does not survive a redirect"),
      },
    ]);
  });

  it("doctor detects a proxy that forwards another Host", async () => {
    const requestHeaders: Spoiling["requestHeaders"] = (headers) => ({
      ...headers,
      host: "app.internal:8080",
    });
    expect((await behind({ requestHeaders })).found).toEqual([
      expect.objectContaining({
        check: "addresses",
        status: "problem",
        remedy: expect.stringContaining("let the proxy forward Host"),
      }),
    ]);
  });
});
