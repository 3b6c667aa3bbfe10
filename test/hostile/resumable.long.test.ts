import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jpegPhoto } from "../support/pictures.ts";
import { beginByTus, sendByTus, sendCut, tus } from "../support/resume.ts";
import { type Site, startSite } from "../support/service.ts";
import { partOf } from "../support/soak.ts";
import { exchange } from "./raw-http.ts";

const ID = "A".repeat(22);
const PIECE = "Content-Type: application/offset+octet-stream\r\n";

let photo: Buffer;
beforeAll(async () => {
  photo = await jpegPhoto(400, 300);
});

describe.each(partOf(["Express 5", "Koa 3"], ["Express 5"]))("hostile requests for uploads in %s", (host) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite({ host, resumable: true, uploadIdleMs: 500, tls: "off" });
  });
  afterAll(() => site.close());

  const files = () => readdir(join(site.directory, "uploads")).catch(() => [] as string[]);
  const send = async (method: string, path: string, headers: string, body = "") => {
    const { host: name } = new URL(site.origin);
    const head = `${method} ${path} HTTP/1.1\r\nHost: ${name}\r\nUser-Agent: H/1\r\nTus-Resumable: 1.0.0\r\nConnection: close\r\n`;
    return (await exchange(site.origin, `${head}${headers}\r\n${body}`))?.status ?? null;
  };

  test.each([
    [`/img/api/uploads/..%2f..%2f${"A".repeat(14)}`, 404],
    [`/img/api/uploads/%2e%2e%2f${"A".repeat(19)}`, 404],
    [`/img/api/uploads/..%5c${"A".repeat(18)}`, 404],
    [`/img/api/uploads/${"A".repeat(21)}%00`, 404],
    [`/img/api/uploads/${ID}.json`, 404],
    [`/img/api/uploads/${ID}%2e%6a%73%6f%6e`, 404],
    [`/img/api/uploads/${ID}/../${ID}`, 404],
    [`/img/api/uploads/${"A".repeat(64)}`, 404],
    [`/img/api/uploads/${"%41".repeat(22)}`, 404],
    [`/img/api/uploads/${ID}`, 404],
  ])("the path %s gets %d for each method and reaches no store", async (path, status) => {
    const before = await files();
    for (const method of ["HEAD", "PATCH", "DELETE"]) {
      expect(await send(method, path, `${PIECE}Upload-Offset: 0\r\nContent-Length: 0\r\n`)).toBe(status);
    }
    expect(await files()).toEqual(before);
  });

  test.each([
    ["two lengths", "Upload-Length: 5\r\nUpload-Length: 500\r\n", 400],
    ["a length beyond 2^53", "Upload-Length: 99999999999999999999\r\n", 400],
    ["an exponent as length", "Upload-Length: 1e3\r\n", 400],
    ["metadata with __proto__", `Upload-Length: 9\r\nUpload-Metadata: __proto__ ${btoa("{}")}\r\n`, 201],
    [
      "a type with a line break",
      `Upload-Length: 9\r\nUpload-Metadata: filetype ${btoa("image/png\r\nX: 1")}\r\n`,
      415,
    ],
    [
      "a forwarded host",
      "Upload-Length: 9\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\n",
      201,
    ],
  ])("a creation with %s gets the expected status", async (_what, headers, status) => {
    expect(await send("POST", "/img/api/uploads", `${headers}Content-Length: 0\r\n`)).toBe(status);
  });

  test("neither forwarding headers nor an override of the method decide anything", async () => {
    const begun = await tus("POST", `${site.base}/api/uploads`, {
      "Upload-Length": "9",
      "X-Forwarded-Host": "evil.example",
      "X-Forwarded-Proto": "https",
      Forwarded: "host=evil.example;proto=https",
    });
    const url = begun.headers.get("location") ?? "";
    expect(url.startsWith(`${site.base}/api/uploads/`)).toBe(true);
    const overridden = await tus("POST", url, { "X-HTTP-Method-Override": "DELETE" });
    expect([overridden.status, overridden.headers.get("allow")]).toEqual([
      405,
      "HEAD, PATCH, DELETE, OPTIONS",
    ]);
    expect((await tus("HEAD", url)).status).toBe(200);
  });

  test("a chunked piece that is longer than the file gets 413, and the file is still checked whole", async () => {
    const url = await beginByTus(site, photo.length);
    const body = Buffer.concat([photo, Buffer.from("more")]);
    const chunked = `${PIECE}Upload-Offset: 0\r\nTransfer-Encoding: chunked\r\n`;
    const text = `${body.length.toString(16)}\r\n${body.toString("latin1")}\r\n0\r\n\r\n`;
    expect(await send("PATCH", new URL(url).pathname, chunked, text)).toBe(413);
    const { status } = await tus("HEAD", url);
    expect([200, 404]).toContain(status);
  });

  test("two clients that send one upload at once, and cut connections, leave one whole picture", async () => {
    const url = await beginByTus(site, photo.length);
    await Promise.all([
      sendCut(url, 0, photo.subarray(0, 3000), photo.length).catch(() => undefined),
      sendCut(url, 0, photo.subarray(0, 9000), photo.length).catch(() => undefined),
    ]);
    const sent = await Promise.all([
      sendByTus(site, photo, { uploadUrl: url, chunkSize: 5000 }),
      sendByTus(site, photo, { uploadUrl: url, chunkSize: 7000 }),
    ]);
    const ids = new Set(sent.map(({ header }) => header("x-service-image-id")));
    expect(ids.size).toBe(1);
    const id = [...ids][0];
    expect((await fetch(`${site.base}/api/images/${id}.jpg`)).status).toBe(200);
  });

  test("many uploads begun and left are removed when they expire, and the service serves meanwhile", async () => {
    let now = Date.now();
    const own = await startSite({ host, resumable: true, now: () => now, sweepEveryMs: false });
    try {
      const begin = async () => beginByTus(own, 1000);
      const [rounds = 0] = partOf<number>([40], [10]);
      for (let n = 0; n < rounds; n++) await Promise.all(Array.from({ length: 25 }, begin));
      expect((await sendByTus(own, photo)).status).toBe(204);
      now += 12 * 3_600_000;
      await own.images.sweep();
      expect(await readdir(join(own.directory, "uploads"))).toEqual([]);
      expect(own.errors).toEqual([]);
    } finally {
      await own.close();
    }
  });

  test("no failure is left to the operator", () => {
    expect(site.errors).toEqual([]);
  });
});
