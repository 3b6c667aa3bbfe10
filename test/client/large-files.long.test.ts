import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createImagesClient } from "@outrigger/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listen, serveHost } from "../support/listen.ts";
import { photo } from "./image-client.ts";
import { openable } from "./sources.ts";

test("an upload of 200 MB keeps memory below 60 MB", async () => {
  let received = 0;
  const server = await serveHost((req, res) => {
    req.on("data", (chunk: Buffer) => {
      received += chunk.length;
    });
    req.on("end", () => res.writeHead(418).end());
  });
  try {
    const script = fileURLToPath(new URL("upload-large.mjs", import.meta.url));
    const args = ["--expose-gc", script, server.origin, "200000000"];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { status, peakBytes } = JSON.parse(stdout);
    expect([status, received > 200_000_000]).toEqual([418, true]);
    expect(peakBytes).toBeLessThan(60_000_000);
  } finally {
    await server.close();
  }
});

describe("upload to a server that reads nothing", () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.pause();
    socket.on("error", () => {});
  });
  let baseUrl: string;
  beforeAll(async () => {
    ({ origin: baseUrl } = await listen(server));
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  test("upload pauses the source, and an abort closes the connection", async () => {
    const chunk = new Uint8Array(256 * 1024);
    const size = 800 * chunk.length;
    let [given, opened] = [0, 0];
    let isCancelled = false;
    const source = openable(photo, {
      size,
      stream() {
        opened++;
        return new ReadableStream({
          pull(controller) {
            given += chunk.length;
            controller.enqueue(chunk);
          },
          cancel() {
            isCancelled = true;
          },
        });
      },
    });
    const abort = new AbortController();
    const reason = new Error("changed my mind");
    let last = { sentBytes: 0, totalBytes: 0 };
    const upload = createImagesClient({ baseUrl }).upload(source, {
      signal: abort.signal,
      onProgress: (progress) => {
        last = progress;
      },
    });
    upload.catch(() => {});
    await expect.poll(() => given).toBeGreaterThan(chunk.length);
    // The source is read until the socket buffers of the operating system are full.
    let before = -1;
    await expect
      .poll(
        () => {
          const isStill = given === before;
          before = given;
          return isStill;
        },
        { interval: 500 },
      )
      .toBe(true);
    expect(given).toBeLessThan(size / 4);
    expect(last.totalBytes).toBeGreaterThan(size);
    expect(last.sentBytes).toBeLessThanOrEqual(given + 1000);
    const [socket] = sockets;
    assert.ok(socket);
    const closed = once(socket, "close");
    abort.abort(reason);
    await expect(upload).rejects.toBe(reason);
    // The socket still delivers the bytes sent before the abort, then its end.
    socket.resume();
    await closed;
    expect([isCancelled, opened]).toEqual([true, 1]);
  });

  test("an abort ends an upload whose source delivers no bytes", async () => {
    const source = openable(photo, {
      stream: () => new ReadableStream({ pull: () => new Promise(() => {}) }),
    });
    const signal = AbortSignal.timeout(100);
    const upload = createImagesClient({ baseUrl }).upload(source, { signal });
    const error = await upload.catch((error) => error);
    expect([error.name, error === signal.reason]).toEqual(["TimeoutError", true]);
  });
});
