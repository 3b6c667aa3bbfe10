import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { FileStore } from "@tus/file-store";
import { Server } from "@tus/server";
import * as tus from "tus-js-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSamples, type Samples } from "./samples.ts";

const EXPIRES_MS = 60_000;
const CHUNK = 4096;

let samples: Samples;
let directory: string;
let http: HttpServer;
let tusServer: Server;
let store: FileStore;
let endpoint: string;

beforeAll(async () => {
  samples = await createSamples();
  directory = await mkdtemp(join(tmpdir(), "outrigger-tus-"));
  store = new FileStore({ directory, expirationPeriodInMilliseconds: EXPIRES_MS });
  tusServer = new Server({ path: "/files", datastore: store });
  http = createServer((req, res) => void tusServer.handle(req, res));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  endpoint = `http://127.0.0.1:${(http.address() as AddressInfo).port}/files`; // Listening on TCP.
});

afterAll(async () => {
  http.close();
  await rm(directory, { recursive: true, force: true });
});

/** Uploads to the end, or until `stopAfter` bytes are acknowledged. Resolves to the address. */
function upload(bytes: Buffer, options: { stopAfter?: number; url?: string; filetype?: string } = {}) {
  const { stopAfter = Number.POSITIVE_INFINITY, url, filetype = "image/jpeg" } = options;
  const starts: number[] = [];
  return new Promise<{ url: string; starts: number[] }>((resolve, reject) => {
    const done = () => resolve({ url: running.url ?? "", starts });
    const running = new tus.Upload(bytes, {
      endpoint,
      ...(url === undefined ? {} : { uploadUrl: url }),
      chunkSize: CHUNK,
      metadata: { filename: "photo", filetype },
      onBeforeRequest: (request) => {
        if (request.getMethod() === "PATCH") starts.push(Number(request.getHeader("Upload-Offset")));
      },
      onChunkComplete: (_size, accepted) => {
        if (accepted >= stopAfter) void running.abort().then(done, reject);
      },
      onSuccess: done,
      onError: reject,
    });
    running.start();
  });
}

describe("tus (@tus/server 2.4.5, tus-js-client 4.3.1)", () => {
  test("tus resumes an interrupted upload at the last byte that the server has", async () => {
    const { photo } = samples;
    const { url } = await upload(photo, { stopAfter: 2 * CHUNK });
    const { starts } = await upload(photo, { url });
    expect(starts[0]).toBe(2 * CHUNK);
    const reply = await fetch(url);
    expect(Buffer.from(await reply.arrayBuffer()).equals(photo)).toBe(true);
  });

  test("tus announces when an upload expires", async () => {
    const reply = await fetch(endpoint, {
      method: "POST",
      headers: { "Tus-Resumable": "1.0.0", "Upload-Length": "10" },
    });
    const expires = Date.parse(reply.headers.get("upload-expires") ?? "") - Date.now();
    expect(reply.status).toBe(201);
    expect(Math.abs(expires - EXPIRES_MS)).toBeLessThan(10_000);
  });

  test("tus serves an upload after its expiry until the app calls the clean-up, which removes it", async () => {
    const { url } = await upload(samples.photo);
    const expired = new FileStore({ directory, expirationPeriodInMilliseconds: 1 });
    await delay(20);
    expect((await fetch(url)).status).toBe(200);
    expect(await expired.deleteExpired()).toBeGreaterThan(0);
    expect((await fetch(url)).status).toBe(404);
    expect(await readdir(directory)).not.toContain(url.split("/").at(-1));
  });

  test("tus stores any bytes under the type that the client names", async () => {
    const { url } = await upload(Buffer.from("Not a picture"), { filetype: "image/jpeg" });
    const reply = await fetch(url);
    expect([reply.headers.get("content-type"), await reply.text()]).toEqual(["image/jpeg", "Not a picture"]);
  });

  test("tus makes no renditions: only the uploaded bytes have an address", async () => {
    const { url } = await upload(samples.photo);
    for (const rest of [".png", "?resize=10x", "/10x10"])
      expect([rest, (await fetch(`${url}${rest}`)).status]).toEqual([rest, 404]);
  });

  test("tus deletes an upload for every client that knows its address", async () => {
    const { url } = await upload(samples.photo);
    const reply = await fetch(url, { method: "DELETE", headers: { "Tus-Resumable": "1.0.0" } });
    expect(reply.status).toBe(204);
    expect((await fetch(url)).status).toBe(404);
  });
});
