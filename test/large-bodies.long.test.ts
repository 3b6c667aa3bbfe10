import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, truncateSync } from "node:fs";
import { createServer, type RequestListener, request, type ServerResponse } from "node:http";
import { connect as connectHttp2, createSecureServer as createSecureHttp2Server } from "node:http2";
import { createServer as createTlsServer, request as secureRequest } from "node:https";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { createGzip, gunzipSync } from "node:zlib";
import { createFsBlobStore, type Service } from "@outrigger/core";
import { isDirectReadable } from "@outrigger/core/stores";
import { koa } from "@outrigger/koa";
import { nodeListener } from "@outrigger/node";
import Koa from "koa";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";

const MIB = 1024 * 1024;
// A pre-shared key needs no certificates.
const psk = Buffer.from("00112233445566778899aabbccddeeff", "hex");
const tls = { ciphers: "PSK", maxVersion: "TLSv1.2" } as const;
const serverTls = { ...tls, pskCallback: () => psk };
const clientTls = {
  ...tls,
  pskCallback: () => ({ psk, identity: "test" }),
  checkServerIdentity: () => undefined,
};

const directory = mkdtempSync(join(tmpdir(), "outrigger-bodies-"));
const store = createFsBlobStore({ directory: join(directory, "data") });
/** Different everywhere, so that a byte of another place or another file shows. */
const bodies = new Map(
  ["one", "two", "three"].map((key, index) => [key, patternOf(index, 4 * MIB + 17 * index)]),
);
/** The blocks into which bodies were read. */
const blocks = new Set<ArrayBufferLike>();

beforeAll(async () => {
  for (const [key, bytes] of bodies) await store.put(key, bytes);
});
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
  blocks.clear();
});
afterAll(() => rmSync(directory, { recursive: true }));

const service: Service = {
  async handle({ path, headers }) {
    const range = /^bytes=(\d+)-(\d+)$/
      .exec(headers.range ?? "")
      ?.slice(1)
      .map(Number);
    const [start = 0, end = Number.POSITIVE_INFINITY] = range ?? [];
    const size = bodies.get(path.slice(1))?.length ?? 0;
    const length = Math.min(end + 1, size) - start;
    const status = range === undefined ? 200 : 206;
    const replied = { status, headers: { "Content-Length": String(length) } };
    const blob = await store.get(path.slice(1), { range: { start, end: start + length - 1 } });
    if (blob === null || Buffer.isBuffer(blob.body)) throw new Error("It is not a stream");
    return { ...replied, body: noting(blob.body) };
  },
};

/** Notes the memory into which a body is read. */
function noting(body: Readable): Readable {
  if (!isDirectReadable(body)) throw new Error("It cannot be read directly");
  const { readInto } = body;
  body.readInto = (target) => {
    blocks.add(target.buffer);
    return readInto(target);
  };
  return body;
}

type Ask = (path: string, headers?: Record<string, string>) => Promise<Readable>;

/** On Unix sockets the kernel accepts some 200 KB, so that writes are still under way when they return. */
let sockets = 0;
async function listen(server: Server): Promise<string> {
  const path = join(directory, `${++sockets}.sock`);
  server.listen(path);
  await once(server, "listening");
  endings.push(() => {
    Reflect.get(server, "closeAllConnections")?.call(server);
    server.close();
  });
  return path;
}

async function overHttp(server: Server, ask = request): Promise<Ask> {
  const socketPath = await listen(server);
  return async (path, headers = {}) => {
    const options = { socketPath, path, headers, agent: false, ...(ask === request ? {} : clientTls) };
    const sent = ask(options).end();
    const [response] = await once(sent, "response");
    return response;
  };
}

async function overHttp2(server: Server): Promise<Ask> {
  const socketPath = await listen(server);
  return async (path, headers = {}) => {
    const client = connectHttp2("https://localhost", {
      createConnection: () => connectTls({ ...clientTls, path: socketPath, ALPNProtocols: ["h2"] }),
    });
    const stream = client.request({ ":path": path, ...headers });
    stream.once("close", () => client.destroy());
    await once(stream, "response");
    return stream;
  };
}

function koaListener(): RequestListener {
  const app = new Koa();
  app.silent = true;
  return app.use(koa(service)).callback();
}

const WAYS: [string, () => Promise<Ask>][] = [
  ["HTTP/1", () => overHttp(createServer(nodeListener(service)))],
  ["HTTPS", () => overHttp(createTlsServer(serverTls, nodeListener(service)), secureRequest)],
  ["HTTP/2 over TLS", () => overHttp2(createSecureHttp2Server(serverTls, nodeListener(service)))],
  ["Koa", () => overHttp(createServer(koaListener()))],
];

describe.each(WAYS)("a large body over %s", (_name, start) => {
  it("arrives unchanged for slow and fast clients at once, from blocks that are used again", async () => {
    const ask = await start();
    const downloads = [...bodies.keys(), ...bodies.keys()].map(async (key, index) => {
      const stream = await ask(`/${key}`);
      return [key, await digestOf(stream, index % 3)];
    });
    const received = await Promise.all(downloads);
    expect(received).toEqual(received.map(([key]) => [key, digest(bodies.get(String(key)))]));
    blocks.clear();
    for (const key of bodies.keys())
      expect(await digestOf(await ask(`/${key}`), 0)).toBe(digest(bodies.get(key)));
    expect(blocks.size).toBe(1);
  });

  it("is sent in part for a range", async () => {
    const ask = await start();
    const [start0, end] = [100_001, 3 * MIB];
    const part = await digestOf(await ask("/two", { range: `bytes=${start0}-${end}` }), 0);
    expect(part).toBe(digest(bodies.get("two")?.subarray(start0, end + 1)));
  });

  it("leaves no open file when clients disconnect in the middle, and later bodies arrive unchanged", async () => {
    const ask = await start();
    for (let turn = 0; turn < 4; turn++) {
      const streams = await Promise.all([...bodies.keys()].map((key) => ask(`/${key}`)));
      for (const stream of streams) {
        stream.on("error", () => undefined);
        await once(stream, "readable");
        stream.destroy();
      }
      const digests = [...bodies.keys()].map(async (key) => digestOf(await ask(`/${key}`), turn % 2));
      expect(await Promise.all(digests)).toEqual([...bodies.values()].map(digest));
    }
    await expect.poll(openFiles).toBe(0);
  });

  it("is cut off, so that the client notices, if its file ends early", async () => {
    await store.put("short", patternOf(9, 4 * MIB));
    bodies.set("short", Buffer.alloc(4 * MIB));
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const ask = await start();
    try {
      const stream = await ask("/short");
      truncateSync((await store.localPath("short")) ?? "", 3 * MIB);
      await expect(digestOf(stream, 0)).rejects.toThrow();
    } finally {
      bodies.delete("short");
      await store.delete("short");
      vi.restoreAllMocks();
    }
  });
});

it("a body arrives unchanged through a middleware that replaces res.write and keeps the bytes", async () => {
  const listener = nodeListener(service);
  const ask = await overHttp(createServer((req, res) => listener(req, compressing(res))));
  const chunks: Buffer[] = [];
  for await (const chunk of await ask("/one")) chunks.push(chunk);
  expect(digest(gunzipSync(Buffer.concat(chunks)))).toBe(digest(bodies.get("one")));
  expect(blocks.size).toBe(0);
});

it("a body arrives unchanged in Koa if the host pipes it through a stream of its own", async () => {
  const app = new Koa();
  app.use(async (ctx, next) => {
    await next();
    const body = ctx.body as Readable; // What the middleware below has set.
    ctx.remove("Content-Length");
    ctx.body = body.pipe(createGzip({ level: 0 }));
  });
  const ask = await overHttp(createServer(app.use(koa(service)).callback()));
  const chunks: Buffer[] = [];
  for await (const chunk of await ask("/three")) chunks.push(chunk);
  expect(digest(gunzipSync(Buffer.concat(chunks)))).toBe(digest(bodies.get("three")));
});

/** Like compression middleware: without callbacks, and the bytes are read later. */
function compressing(res: ServerResponse): ServerResponse {
  const gzip = createGzip({ level: 0 });
  const { end, write, removeHeader } = res;
  gzip.on("data", (chunk) => write.call(res, chunk, "latin1")).once("end", () => end.call(res, "", "latin1"));
  res.write = (chunk: unknown) => {
    if (!res.headersSent) removeHeader.call(res, "Content-Length");
    return gzip.write(chunk);
  };
  gzip.on("drain", () => res.emit("drain"));
  res.end = () => {
    gzip.end();
    return res;
  };
  return res;
}

/** @param slowness 0: reads as fast as it can. */
async function digestOf(stream: Readable, slowness: number): Promise<string> {
  const hash = createHash("sha256");
  let count = 0;
  for await (const chunk of stream) {
    hash.update(chunk);
    if (slowness > 0 && ++count % (9 - 3 * slowness) === 0) await wait(slowness);
  }
  return hash.digest("hex");
}

function digest(bytes: Uint8Array = Buffer.alloc(0)): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function patternOf(seed: number, length: number): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let index = 0; index < words.length; index++)
    words[index] = Math.imul(index + 1, 2654435761) ^ (seed << 28);
  return Buffer.from(words.buffer, 0, length);
}

/** How many files of the store this process holds open. */
function openFiles(): number {
  const descriptors = readdirSync("/proc/self/fd");
  return descriptors.filter((name) => fileBehind(name).startsWith(join(directory, "data", "blobs"))).length;
}

function fileBehind(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return ""; // Closed meanwhile.
  }
}
