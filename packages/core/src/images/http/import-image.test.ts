import type { RequestListener, ServerResponse } from "node:http";
import { acceptAll, createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { created, createSite, type ImageSite, keysOf, type SiteOptions } from "../../../test/image-site.ts";
import { spooled } from "../../../test/library-site.ts";
import { createDiskStore } from "../../../test/life-site.ts";
import { createRemoteSite } from "../../../test/remote-site.ts";
import { createMemoryRateLimiter } from "../../stores/memory/memory-rate-limiter.ts";

const KEY = { "idempotency-key": "8e03978e-40d5-43dd-bc93-6894a57f9324" };
const FAILED =
  "The file at url could not be fetched: a server on the public internet must answer 200 with the file within 30 seconds";

/** A server on this machine, and a service that may fetch from it. */
async function start(listener: RequestListener, options: SiteOptions = {}) {
  const server = await (await createRemoteSite()).serve(listener);
  const logged: unknown[] = [];
  const logger = { info: (...line: unknown[]) => logged.push(line), warn() {}, error() {} };
  const store = createDiskStore();
  const site = createSite({
    ...{ store, logger, renderer: createFakeRenderer(acceptAll) },
    importUrls: { internalHosts: [`127.0.0.1:${server.port}`] },
    ...options,
  });
  return { site, server, store, logged, url: `http://127.0.0.1:${server.port}` };
}

const send = (site: ImageSite, fields: Record<string, unknown>, headers: Record<string, string> = {}) =>
  site.send("POST", "/api/images.json", { fields, headers });

const poll = <T>(read: () => T) => expect.poll(read);

const png: RequestListener = (_req, res) => res.end(PNG);

test("a create with a URL stores the file at the URL, and answers as an upload does", async () => {
  const { site, server, url } = await start(png);
  const answer = await send(site, {
    url: `${url}/a/Harbour%20%C3%A9.png?secret=1`,
    description: "A harbour\nat dusk.",
    expiresAt: "2026-03-02T12:00Z",
  });
  expect(answer).toMatchObject({
    status: 201,
    json: {
      name: "Harbour é.png",
      description: "A harbour at dusk.",
      type: "image/png",
      size: PNG.length,
      expiresAt: "2026-03-02T12:00:00.000Z",
    },
  });
  const { id } = created(answer);
  expect(answer.headers["X-Service-Image-Id"]).toBe(id);
  const read = await site.send("GET", `/api/images/${id}.png`);
  expect(read.text).toBe(PNG.toString("utf8"));
  expect(server.requests).toEqual(["GET /a/Harbour%20%C3%A9.png?secret=1"]);
  const text = await site.send("POST", "/api/images.txt", { fields: { url } });
  expect(text).toMatchObject({
    status: 201,
    text: expect.stringMatching(/^https:\/\/pictures\.example\/\S{22}\n$/),
  });
});

test("a request for an import names the product, its version and the accepted types", async () => {
  let headers: unknown;
  const { site, url } = await start((req, res) => {
    ({ headers } = req);
    res.end(PNG);
  });
  await send(site, { url });
  expect(headers).toMatchObject({
    "user-agent": expect.stringMatching(/^Outrigger\/\d+\.\d+\.\d+/),
    accept: expect.stringMatching(/^image\/png, .*, \*\/\*;q=0\.1$/),
  });
});

test.each<[object, BufferEncoding, string | null, string]>([
  [{ name: "Mine" }, "utf8", 'inline; filename="served.png"', "Mine"],
  [{}, "utf8", 'inline; filename="served.png"', "served.png"],
  [{}, "utf8", "attachment; filename*=UTF-8''na%C3%AFve.png", "naïve.png"],
  [{}, "utf8", 'inline; filename="naïve.png"', "naïve.png"],
  [{}, "latin1", 'inline; filename="naïve.png"', "naïve.png"],
  [{}, "utf8", 'inline; filename="../../etc/passwd"', "passwd"],
  [{}, "utf8", "inline; filename", "last%zz"],
  [{}, "utf8", null, "last%zz"],
])("an import with the fields %j and, in %s, the Content-Disposition %s has the name %s", async (...row) => {
  const [fields, encoding, disposition, name] = row;
  const { site, url } = await start((req) => {
    const header = disposition === null ? "" : `Content-Disposition: ${disposition}\r\n`;
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${PNG.length}\r\n${header}\r\n`;
    req.socket.end(Buffer.concat([Buffer.from(head, encoding), PNG]));
  });
  expect((await send(site, { url: `${url}/first/last%zz`, ...fields })).json).toMatchObject({ name });
});

describe("a create with a URL answers 400 and sends nothing for", () => {
  test.each([
    [{}, "The body must have the url of the file"],
    [{ url: null }, "url must be a string"],
    [{ url: ["http://example.com/"] }, "url must be a string"],
    [{ url: { href: "http://example.com/" } }, "url must be a string"],
    [{ url: "file:///etc/passwd" }, "url must be an absolute http or https URL"],
    [{ url: "http://anna:secret@127.0.0.1/" }, "url must have no user name and no password"],
    [{ url: "http://127.0.0.1:22/" }, "url must have one of the ports 80, 443"],
    [{ name: 5 }, "name must be a string"],
    [{ expiresAt: "yesterday" }, /^expiresAt must be/],
    [{ expiresAt: 1 }, "expiresAt must be in the future"],
  ])("%j", async (fields, detail) => {
    const { site, server, url } = await start(png);
    const isAboutUrl = "url" in fields || Object.keys(fields).length === 0;
    const answer = await send(site, isAboutUrl ? fields : { url, ...fields });
    expect(answer.status).toBe(400);
    expect(answer.json.detail).toEqual(detail instanceof RegExp ? expect.stringMatching(detail) : detail);
    expect(server.connections()).toBe(0);
  });
});

test("without the option importUrls, JSON gets 415, and nothing is sent", async () => {
  const { site, server, url } = await start(png, { importUrls: false });
  expect((await send(site, { url })).status).toBe(415);
  expect(server.connections()).toBe(0);
});

test("refused and unreachable servers, and all their failures, get the same reply; the log has the reason", async () => {
  const { site, url, server, logged, store } = await start(
    (req, res) => {
      const path = req.url?.split("?", 1)[0];
      if (path === "/cut") return void res.writeHead(200, { "Content-Length": "99" }).flushHeaders();
      if (path === "/back") return void res.writeHead(302, { Location: `http://127.0.0.1/` }).end();
      return void res.writeHead(Number(path?.slice(1))).end(PNG);
    },
    { uploadIdleMs: 200 },
  );
  const addresses = [
    ...["/404", "/500", "/206", "/cut", "/back"].map((path) => `${url}${path}?token=hidden`),
    ...["http://127.0.0.1/?token=hidden", "http://10.0.0.1/?token=hidden", "https://[::1]/?token=hidden"],
  ];
  for (const address of addresses) {
    const answer = await send(site, { url: address });
    expect([answer.status, answer.json.detail], address).toEqual([400, FAILED]);
  }
  expect(server.requests).toHaveLength(5);
  expect(await spooled(store)).toEqual([]);
  expect(await keysOf(store)).toEqual([]);
  expect(site.errors).toEqual([]);
  expect(logged.filter((line) => JSON.stringify(line).includes("import failed"))).toHaveLength(
    addresses.length,
  );
  expect(JSON.stringify(logged)).toContain("the reply has the status 404");
  expect(JSON.stringify(logged)).not.toContain("hidden");
});

test("an endless file is cut off at the upload limit with 413, whatever its Content-Length says", async () => {
  let sent = 0;
  const { site, url, store } = await start(
    (req, res) => {
      if (req.url === "/announced")
        return void res.writeHead(200, { "Content-Length": "1000000000" }).end(PNG);
      res.write(PNG);
      const more = () => {
        while (!res.destroyed && res.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      res.on("drain", more);
      return more();
    },
    { maxUploadBytes: 200_000 },
  );
  expect((await send(site, { url: `${url}/endless` })).status).toBe(413);
  expect(sent).toBeLessThan(20_000_000);
  expect(await spooled(store)).toEqual([]);
});

test("the bytes decide the type: a web page is refused with 415, whatever its Content-Type says", async () => {
  const { site, url, store } = await start((req, res) => {
    res.setHeader("Content-Type", req.url === "/page" ? "image/png" : "text/html");
    res.end(req.url === "/page" ? "<!doctype html>" : PNG);
  });
  expect(await send(site, { url: `${url}/page` })).toMatchObject({
    status: 415,
    json: { detail: "This is a web page; choose the picture itself" },
  });
  expect((await send(site, { url: `${url}/picture` })).status).toBe(201);
  expect(await spooled(store)).toEqual([]);
});

test("an import counts as a create, also when it fails", async () => {
  const { site, url } = await start(png, { rateLimits: { creates: 2 } });
  expect((await send(site, { url: "http://127.0.0.1/" })).status).toBe(400);
  expect((await send(site, { url })).status).toBe(201);
  expect((await send(site, { url })).status).toBe(429);
});

test("one client has at most 16 imports under way; others are served meanwhile", async () => {
  const held: (() => void)[] = [];
  const { site, url, server } = await start((_req, res) => held.push(() => res.end(PNG)), {
    rateLimits: { creates: 1000 },
    uploadIdleMs: 30_000,
  });
  const sending = Array.from({ length: 20 }, () => send(site, { url }));
  await poll(() => held.length).toBe(16);
  const other = site.send("POST", "/api/images.json", { fields: { url }, clientIp: "192.0.2.99" });
  await poll(() => held.length).toBe(17);
  for (let at = 0; at < 21; at++) {
    await poll(() => held.length).toBeGreaterThan(at);
    held[at]?.();
  }
  const statuses = (await Promise.all([...sending, other])).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([201]));
  expect(server.requests).toHaveLength(21);
});

test("an import without a place gets 503 also if its create cannot be refunded: onError gets that failure", async () => {
  const held: ServerResponse[] = [];
  const failure = new Error("The limiter is down");
  const { site, url } = await start((_req, res) => void held.push(res), {
    rateLimits: { creates: 1000 },
    rateLimiter: { ...createMemoryRateLimiter(), refund: () => Promise.reject(failure) },
    uploadIdleMs: 1500,
  });
  // A server that sends nothing for `uploadIdleMs` would lose its place.
  const drip = setInterval(() => {
    for (const res of held) res.write(".");
  }, 100);
  const sending = Array.from({ length: 16 }, () => send(site, { url }));
  await poll(() => held.length).toBe(16);
  const refused = await send(site, { url }).finally(() => clearInterval(drip));
  expect([refused.status, refused.headers["Retry-After"]]).toEqual([503, "5"]);
  expect(site.errors).toEqual([failure]);
  for (const res of held) res.end();
  await Promise.all(sending);
});

describe("with an Idempotency-Key", () => {
  test("a repeated import gets the first answer, and the server is asked once", async () => {
    let version = 0;
    const { site, server, url } = await start((_req, res) =>
      res.end(Buffer.concat([PNG, Buffer.from([version++])])),
    );
    const first = await send(site, { url, name: "a" }, KEY);
    const again = await send(site, { name: "a", url }, KEY);
    expect([again.status, again.json]).toEqual([first.status, first.json]);
    expect(server.requests).toHaveLength(1);
  });

  test("another URL or other fields under the same key answer 409, and a failed import frees the key", async () => {
    const { site, url } = await start((req, res) => res.writeHead(req.url === "/gone" ? 404 : 200).end(PNG));
    expect((await send(site, { url: `${url}/gone` }, KEY)).status).toBe(400);
    expect((await send(site, { url }, KEY)).status).toBe(201);
    expect((await send(site, { url: `${url}/other` }, KEY)).status).toBe(409);
    expect((await send(site, { url, name: "b" }, KEY)).status).toBe(409);
    expect((await site.create({ headers: KEY })).status).toBe(409);
  });
});

test("a client that disconnects ends the fetch, and nothing remains", async () => {
  let closed = 0;
  const { site, url, store, server } = await start((req, res) => {
    req.socket.on("close", () => closed++);
    res.write(PNG);
  });
  const controller = new AbortController();
  const sending = site.send("POST", "/api/images.json", { fields: { url }, signal: controller.signal });
  await poll(() => server.requests.length).toBe(1);
  controller.abort(new Error("left"));
  await sending.catch(() => undefined);
  await poll(() => closed).toBe(1);
  await poll(() => spooled(store)).toEqual([]);
});
