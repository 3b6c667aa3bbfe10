import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFsBlobStore, type ImageStorage, type TicketOptions } from "@outrigger/core";
import { createRedisBlobStore } from "@outrigger/redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exchange } from "./hostile/raw-http.ts";
import type { HostName } from "./support/hosts.ts";
import { type Host, serveHost } from "./support/listen.ts";
import { jpegPhoto } from "./support/pictures.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { type Site, startSite } from "./support/service.ts";

const [photo, another] = [await jpegPhoto(60, 40), await jpegPhoto(61, 40)];
let directory: string;
let redis: RedisServer;
/** The server that images are imported from. */
let files: Host;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-tickets-"));
  redis = await startRedis();
  files = await serveHost((req, res) => void res.end(req.url === "/other.jpg" ? another : photo));
});
afterAll(async () => {
  await redis.close();
  await files.close();
  await rm(directory, { recursive: true });
});

const PLACES: [string, HostName, () => ImageStorage][] = [
  ["a directory, Express 5", "Express 5", () => createFsBlobStore({ directory: join(directory, "e") })],
  ["a directory, Koa 3", "Koa 3", () => createFsBlobStore({ directory: join(directory, "k") })],
  ["Redis, Express 5", "Express 5", () => createRedisBlobStore({ url: redis.url, prefix: "e" })],
  ["Redis, Koa 3", "Koa 3", () => createRedisBlobStore({ url: redis.url, prefix: "k" })],
];

describe.each(PLACES)("with %s", (_, host, storage) => {
  /** Two processes on one storage. They permit no upload without a ticket. */
  let sites: [Site, Site];
  beforeAll(async () => {
    const options = {
      host,
      secret: "s".repeat(32),
      authorize: (_call: unknown, action: string) => action !== "create",
      importUrls: { internalHosts: [new URL(files.origin).host] },
    };
    sites = [
      await startSite({ ...options, storage: storage() }),
      await startSite({ ...options, storage: storage() }),
    ];
  });
  afterAll(async () => {
    for (const site of sites) await site.close();
  });

  const ticketFor = async (terms?: TicketOptions) => `/img${(await sites[0].images.ticket(terms)).url}`;

  async function send(ticket: string, bytes: Buffer, site = sites[0], type = "image/jpeg") {
    const form = new FormData();
    form.set("imagedata", new Blob([new Uint8Array(bytes)], { type }), "photo.jpg");
    const reply = await fetch(site.origin + ticket, { method: "POST", body: form });
    return { status: reply.status, headers: reply.headers, json: await reply.json() };
  }

  async function count(): Promise<number> {
    let images = 0;
    for await (const _image of sites[0].images.list()) images++;
    return images;
  }

  test("an upload with a ticket is stored and served, and the same upload again gets its address", async () => {
    const ticket = await ticketFor({ name: "A receipt", pin: true });
    const first = await send(ticket, photo);
    expect(first).toMatchObject({ status: 201, json: { name: "A receipt", pin: expect.any(String) } });
    expect((await fetch(first.json.links.jpg)).status).toBe(200);
    const again = await send(ticket, photo, sites[1]);
    expect([again.status, again.json.id, again.json.pin, again.headers.get("X-Service-Image-Pin")]).toEqual([
      ...[201, first.json.id, undefined, null],
    ]);
    expect((await send(ticket, another, sites[1])).status).toBe(409);
    expect((await send("/img/api/images.json", photo)).status).toBe(403);
  });

  test("many uploads with one ticket at once, on two processes, store exactly one image", async () => {
    const before = await count();
    const ticket = await ticketFor();
    const sent = Array.from({ length: 12 }, (_, at) =>
      send(ticket, at % 2 === 0 ? photo : another, sites[at % 3 === 0 ? 0 : 1]),
    );
    const replies = await Promise.all(sent);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201, 409]));
    const stored = replies.filter(({ status }) => status === 201);
    expect(new Set(stored.map(({ json }) => json.id)).size).toBe(1);
    expect(stored.some(({ json }) => "pin" in json)).toBe(false);
    expect(await count()).toBe(before + 1);
  });

  test("a file of another type or over the limit is refused before all of it has arrived", async () => {
    const before = await count();
    const head = (type: string, length: number) =>
      [
        "Host: h.example",
        "User-Agent: Raw/1.0",
        "Content-Type: multipart/form-data; boundary=x",
        `Content-Length: ${length}`,
        "",
        `--x\r\nContent-Disposition: form-data; name="imagedata"; filename="a.jpg"\r\nContent-Type: ${type}`,
        "",
        "",
      ].join("\r\n");
    const begin = async (terms: TicketOptions, type: string, length: number, bytes: number) => {
      const line = `POST ${await ticketFor(terms)} HTTP/1.1\r\n`;
      const part = [Buffer.from(line + head(type, length)), randomBytes(bytes)];
      return exchange(sites[0].origin, [Buffer.concat(part)]);
    };
    const typed = await begin({ types: ["image/png"] }, "image/jpeg", 1_000_000, 100);
    expect([typed?.status, typed?.body.toString()]).toEqual([
      415,
      expect.stringContaining("The file is image/jpeg, but the ticket accepts only image/png"),
    ]);
    const announced = await begin({ maxBytes: 1000 }, "image/jpeg", 10_000_000, 0);
    expect(announced?.status).toBe(413);
    const arriving = await begin({ maxBytes: 1000 }, "image/jpeg", 100_000, 5000);
    expect([arriving?.status, arriving?.body.toString()]).toEqual([
      413,
      expect.stringContaining("1000 bytes"),
    ]);
    expect((await send(await ticketFor({ types: ["image/png"] }), photo, sites[0], "")).status).toBe(415);
    expect(await count()).toBe(before);
  });

  test("a ticket can be used after an upload that was cut", async () => {
    const ticket = await ticketFor();
    const form = `--x\r\nContent-Disposition: form-data; name="imagedata"; filename="a"\r\n\r\n`;
    const head = `POST ${ticket} HTTP/1.1\r\nHost: h.example\r\nUser-Agent: Raw/1.0\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 9000\r\n\r\n`;
    const cut = exchange(sites[0].origin, [Buffer.from(head + form)], { end: true });
    expect((await cut.catch(() => null))?.status ?? 400).toBe(400);
    expect((await send(ticket, photo)).status).toBe(201);
  });

  test("an import by URL uses the ticket up, by its URL", async () => {
    const ticket = await ticketFor({ types: ["image/jpeg"], maxBytes: photo.length });
    const take = async (url: string, address = ticket) => {
      const headers = { "Content-Type": "application/json" };
      const reply = await fetch(sites[0].origin + address, {
        method: "POST",
        headers,
        body: JSON.stringify({ url }),
      });
      return { status: reply.status, json: await reply.json() };
    };
    const url = `${files.origin}/photo.jpg`;
    const [first, again] = [await take(url), await take(url)];
    expect([first.status, again.status, again.json.id]).toEqual([201, 201, first.json.id]);
    expect("pin" in again.json).toBe(false);
    expect((await take(`${files.origin}/other.jpg`)).status).toBe(409);
    expect((await take(url, await ticketFor({ maxBytes: photo.length - 1 }))).status).toBe(413);
    expect((await take(url, await ticketFor({ types: ["image/png"] }))).status).toBe(415);
  });

  test("a page of another origin may upload, and no spool file and no error remain", async () => {
    const origin = "https://elsewhere.example";
    const headers = {
      Origin: origin,
      "Sec-Fetch-Site": "cross-site",
      "Access-Control-Request-Method": "POST",
    };
    const reply = await fetch(sites[0].origin + (await ticketFor()), { method: "OPTIONS", headers });
    expect([reply.status, reply.headers.get("Access-Control-Allow-Origin")]).toEqual([204, "*"]);
    const left = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith(".part"));
    expect(left).toEqual([]);
    for (const site of sites) expect(site.errors).toEqual([]);
  });
});
