// Nightly: three proxies that send files themselves.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { createFsBlobStore, createImages, type SendfileOptions } from "@outrigger/core";
import { toFetchHandler } from "@outrigger/fetch";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOST_NAMES } from "./support/hosts.ts";
import { type RunningProxy, startLighttpd, startNginx } from "./support/proxies.ts";
import { addressOf, bytesOf, type Site, startSite, upload, withSite } from "./support/service.ts";

const PAGE = new URL("../docs/mounting.md", import.meta.url);
const ORIGIN = "https://app.example";
/** 3 MB, more than nodes send themselves: noise, which no cleaning makes smaller. */
const LARGE = await sharp(randomBytes(3_000_000), { raw: { width: 1000, height: 1000, channels: 3 } })
  .png({ compressionLevel: 0 })
  .toBuffer();
const ACCEL = { header: "X-Accel-Redirect", prefix: "/outrigger-files/" } as const;
/** Headers of a connection or of a server, which differ by nature. */
const OWN = ["connection", "date", "keep-alive", "server", "x-powered-by"];

/** The configuration of a proxy as the guide shows it, for a service and its files. */
function shown(language: string, { origin, directory }: Pick<Site, "origin" | "directory">): string {
  const blocks = readFileSync(PAGE, "utf8").matchAll(/^```(\w+)\n(.*?)^```/gms);
  const [, , code = ""] = [...blocks].find(([, name]) => name === language) ?? [];
  const port = new URL(origin).port;
  return code
    .replace("127.0.0.1:3000", `127.0.0.1:${port}`)
    .replace('"port" => 3000', `"port" => ${port}`)
    .replace(
      /(?:"\/srv\/outrigger\/data\/blobs\/"|\/srv\/outrigger\/data\/blobs\/)/,
      `"${directory}/blobs/"`,
    );
}

const PROXIES: Record<string, { sendfile: SendfileOptions; start(site: Site): Promise<RunningProxy> }> = {
  nginx: { sendfile: ACCEL, start: (site) => startNginx(shown("nginx", site)) },
  lighttpd: {
    sendfile: { header: "X-Sendfile" },
    start: (site) => startLighttpd(shown("lighttpd", site)),
  },
};

/** Headers without those in {@link OWN}. */
function headersOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !OWN.includes(name)));
}

describe.each(Object.entries(PROXIES))("%s as the guide configures it", (name, { sendfile, start }) => {
  let parent: string;
  let directory: string;
  let site: Site;
  let proxy: RunningProxy;
  let base: string;
  /** Called between the decision of the node and its reply. */
  let beforeReply = async (_path: string) => {};

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), "outrigger-sendfile-"));
    // A path with what must be encoded in a header.
    directory = join(parent, "my 100% pictures, ü");
    const store = createFsBlobStore({ directory });
    site = await startSite({
      tls: "off",
      storage: {
        ...store,
        spoolDirectory: store.spoolDirectory,
        async localPath(key) {
          const path = await store.localPath(key);
          if (path !== null) await beforeReply(path);
          return path;
        },
      } as typeof store,
      sendfile,
      cacheTag: "Cache-Tag",
      cors: { origins: [ORIGIN], credentials: true },
    });
    proxy = await start({ ...site, directory });
    base = `${proxy.origin}/img`;
  });
  afterAll(async () => {
    await proxy.close();
    await site.close();
    await rm(parent, { recursive: true, force: true });
  });

  const add = (fields?: { name?: string }) => upload(site, LARGE, "image/png", fields);
  const read = (id: string, headers: Record<string, string> = {}, method = "GET") =>
    bytesOf(addressOf({ base }, id, "png"), { method, headers: { Origin: ORIGIN, ...headers } });
  const stored = async (id: string) => {
    const image = await site.images.open(id);
    return Buffer.isBuffer(image.body) ? image.body : buffer(image.body);
  };

  test("sends a large original with all headers of the service, under both addresses", async () => {
    const { id } = await add({ name: "Ünïcode 100%.png" });
    const bytes = await stored(id);
    for (const path of [`/api/images/${id}.png`, `/${id}`]) {
      const init = { headers: { Origin: ORIGIN, Accept: "image/png" } };
      const named = await bytesOf(site.base + path, init);
      expect([named.bytes.length, named.response.headers.has(sendfile.header)]).toEqual([0, true]);
      const head = await fetch(site.base + path, { ...init, method: "HEAD" });
      const { response, bytes: got } = await bytesOf(`${base}${path}`, init);
      expect(response.status).toBe(200);
      expect(headersOf(response)).toEqual(headersOf(head));
      expect(got.equals(bytes)).toBe(true);
      const proxied = await fetch(base + path, { ...init, method: "HEAD" });
      expect(headersOf(proxied)).toEqual(headersOf(head));
    }
    expect(site.errors).toEqual([]);
  });

  test("sends ranges of it, with the headers of the whole", async () => {
    const { id } = await add();
    const bytes = await stored(id);
    const whole = headersOf((await read(id)).response);
    const size = bytes.length;
    for (const [range, start, end] of [
      ["bytes=0-9", 0, 9],
      ["bytes=1000000-1999999", 1_000_000, 1_999_999],
      ["bytes=-5", size - 5, size - 1],
      [`bytes=${size - 1}-${size + 100}`, size - 1, size - 1],
    ] as const) {
      const { response, bytes: part } = await read(id, { Range: range });
      const { "content-range": place, ...headers } = headersOf(response);
      expect([response.status, place]).toEqual([206, `bytes ${start}-${end}/${size}`]);
      expect(part.equals(bytes.subarray(start, end + 1))).toBe(true);
      expect(headers).toEqual({ ...whole, "content-length": String(part.length) });
    }
    const several = await read(id, { Range: "bytes=0-3,1000000-1000003" });
    if (name === "nginx") {
      expect([several.response.status, several.bytes.length]).toEqual([200, size]);
    } else {
      expect(several.response.status).toBe(206);
      expect(several.response.headers.get("content-type")).toMatch(/^multipart\/byteranges/);
      for (const at of [0, 1_000_000]) expect(several.bytes.includes(bytes.subarray(at, at + 4))).toBe(true);
    }
    const beyond = await read(id, { Range: `bytes=${size}-` });
    expect([beyond.response.status, beyond.response.headers.get("content-range")]).toEqual([
      416,
      `bytes */${size}`,
    ]);
    expect(beyond.response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  });

  test("forwards conditions, which the service evaluates by its own ETag and date", async () => {
    const { id } = await add();
    const { response } = await read(id);
    const etag = String(response.headers.get("etag"));
    const date = String(response.headers.get("last-modified"));
    const size = Number(response.headers.get("content-length"));
    const range = { Range: "bytes=0-9" };
    const epoch = "Thu, 01 Jan 1970 00:00:00 GMT";
    for (const [headers, status, length] of [
      [{ "If-None-Match": etag }, 304, 0],
      [{ "If-None-Match": '"another"' }, 200, size],
      [{ "If-Modified-Since": date }, 304, 0],
      [{ "If-Modified-Since": epoch }, 200, size],
      [{ "If-Match": etag }, 200, size],
      [{ "If-Match": '"another"' }, 412, null],
      [{ "If-Unmodified-Since": date }, 200, size],
      [{ "If-Unmodified-Since": epoch }, 412, null],
      [{ "If-Range": etag, ...range }, 206, 10],
      [{ "If-Range": date, ...range }, 206, 10],
      [{ "If-Range": '"another"', ...range }, 200, size],
      [{ "If-Range": epoch, ...range }, 200, size],
    ] as [Record<string, string>, number, number | null][]) {
      const answer = await read(id, headers);
      expect([headers, answer.response.status, length === null ? null : answer.bytes.length]).toEqual([
        headers,
        status,
        length,
      ]);
    }
  });

  test("sends no withheld and no deleted image, and a released one again", async () => {
    const { id, pin } = await add();
    await site.images.withhold(id, { reason: "By order of the court." });
    for (const headers of [{}, { Range: "bytes=0-9" }])
      expect((await read(id, headers)).response.status).toBe(451);
    await site.images.release(id);
    expect((await read(id)).response.status).toBe(200);
    await fetch(addressOf({ base }, id, "json"), {
      method: "DELETE",
      headers: { "X-Service-Image-Pin": pin },
    });
    for (const headers of [{}, { Range: "bytes=0-9" }])
      expect((await read(id, headers)).response.status).toBe(410);
  });
  test("gives no file to a client that asks for it or names it in headers", async () => {
    const { id } = await add();
    let path = "";
    beforeReply = async (file) => {
      path = file.slice(join(directory, "blobs").length + 1);
    };
    const plain = await read(id);
    beforeReply = async () => {};
    expect(path).toContain(id);
    for (const place of [
      "/outrigger-files/",
      "/%6futrigger-files/",
      "//outrigger-files/",
      "/img/..%2foutrigger-files/",
    ]) {
      expect((await fetch(`${proxy.origin}${place}${path}`)).status).toBe(404);
    }
    const secret = join(directory, "secret");
    for (const header of ["X-Accel-Redirect", "X-Sendfile", "X-Sendfile-Type", "X-Accel-Mapping"]) {
      for (const value of [secret, "X-Accel-Redirect", "/outrigger-files/../secret", `${directory}=/img/`]) {
        const answer = await read(id, { [header]: encodeURI(value) });
        expect(headersOf(answer.response)).toEqual(headersOf(plain.response));
        expect(answer.bytes.equals(plain.bytes)).toBe(true);
      }
    }
  });
});

test("each line add_header of the guide keeps one header that nginx drops or replaces", async () => {
  const cors = { origins: [ORIGIN], credentials: true };
  await withSite({ tls: "off", sendfile: ACCEL, cacheTag: "Cache-Tag", cors }, async (site) => {
    const { id } = await upload(site, LARGE, "image/png");
    const named = await fetch(addressOf(site, id, "png"));
    const file = String(named.headers.get(ACCEL.header)).replace(ACCEL.prefix, `${site.directory}/blobs/`);
    // The date of the file is otherwise that of the upload.
    await utimes(file, 0, 0);
    const code = shown("nginx", site);
    const names = [...code.matchAll(/add_header (\S+) /g)].map(([, name = ""]) => name.toLowerCase());
    const proxy = await startNginx(code.replaceAll(/^ *add_header .*$/gm, ""));
    const get = async (origin: string, method: string) => {
      const init = { method, headers: { Origin: ORIGIN } };
      return headersOf((await bytesOf(addressOf({ base: `${origin}/img` }, id, "png"), init)).response);
    };
    const own = await get(site.origin, "HEAD");
    const bare = await get(proxy.origin, "GET");
    await proxy.close();
    const changed = Object.keys(own).filter((header) => own[header] !== bare[header]);
    expect(changed.sort()).toEqual(names.sort());
  });
});

test.each(HOST_NAMES)("%s names the file of a large original, with the type and no body", async (host) => {
  await withSite({ host, sendfile: ACCEL }, async (site) => {
    const { id } = await upload(site, LARGE, "image/png");
    const { response, bytes } = await bytesOf(addressOf(site, id, "png"));
    const { headers } = response;
    const told = ["content-type", "content-length", "x-accel-redirect"].map((name) => headers.get(name));
    expect([response.status, bytes.length, ...told]).toEqual([
      ...[200, 0, "image/png", "0"],
      expect.stringContaining(`/outrigger-files/${id.slice(0, 2)}/${id}/`),
    ]);
  });
});

test("a fetch handler names the file of a large original, with the type and no body", async () => {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-sendfile-"));
  const images = createImages({
    ...{ storage: createFsBlobStore({ directory }), renderer: createRenderer(), tls: "off", sendfile: ACCEL },
  });
  const { id } = await images.add(LARGE);
  const handler = toFetchHandler(images);
  const response = await handler(new Request(`https://127.0.0.1/api/images/${id}.png`));
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("image/png");
  expect(response.headers.get("x-accel-redirect")).toContain(`/outrigger-files/${id.slice(0, 2)}/${id}/`);
  expect((await response.arrayBuffer()).byteLength).toBe(0);
  await images.close();
  await rm(directory, { recursive: true, force: true });
});
