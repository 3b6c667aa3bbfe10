import { once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type HttpLimits, settingsOf } from "../../config/settings.ts";
import { type Listener, listen } from "./listen.ts";

let listener: Listener | undefined;
const sockets = new Set<Socket>();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await listener?.drain(0);
  listener = undefined;
});

async function start(handler: RequestListener, http: Partial<HttpLimits> = {}): Promise<Listener> {
  const settings = settingsOf({ port: 0 });
  listener = await listen(handler, { ...settings, http: { ...settings.http, ...http } }, (error) => {
    throw error;
  });
  return listener;
}

/** A raw connection. */
async function dial({ url }: Listener, text = ""): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  sockets.add(socket);
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return socket;
}

async function readAll(socket: Socket): Promise<string> {
  return Buffer.concat(await socket.toArray()).toString("latin1");
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve: (value: T) => resolve(value) };
}

/** Resolves when the connection has ended, with or without an error. */
function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    // A write to a connection that is being closed may fail. An unread reply would keep it open.
    socket
      .resume()
      .on("error", () => {})
      .once("close", () => resolve());
  });
}

const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

describe("listen", () => {
  it("closes a connection with incomplete headers, and keeps one that waits between requests", async () => {
    const server = await start((_, res) => void res.end("here"), { headersTimeoutMs: 300 });
    const patient = await dial(server, GET);
    expect(String(await once(patient, "data"))).toContain("here");
    const slow = await dial(server, "GET / HTTP/1.1\r\nHost: local");
    expect(await readAll(slow)).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    // The first connection was closed after this one had been waiting.
    patient.write(GET);
    expect(String(await once(patient, "data"))).toContain("here");
  });

  it("closes a connection whose body takes longer than requestTimeoutMs", async () => {
    const server = await start((req) => void req.resume(), { headersTimeoutMs: 200, requestTimeoutMs: 1000 });
    const socket = await dial(server, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
    const drip = setInterval(() => socket.write("x"), 50);
    await closing(socket);
    clearInterval(drip);
  });

  it("closes an idle connection after keepAliveMs", async () => {
    const server = await start((_, res) => void res.end("here"), { keepAliveMs: 200 });
    expect(await readAll(await dial(server, GET))).toMatch(/\r\nKeep-Alive: timeout=\d\r\n[\s\S]*here$/);
  });

  it("refuses connections above maxConnections", async () => {
    const server = await start((_, res) => void res.end("here"), { maxConnections: 1 });
    const first = await dial(server, GET);
    await once(first, "data");
    expect(await readAll(await dial(server))).toBe("");
    first.write(GET);
    expect(String(await once(first, "data"))).toContain("here");
  });
});

describe("drain", () => {
  it("closes idle connections at once, and others after a reply with Connection: close", async () => {
    const requested = deferred<ServerResponse>();
    const server = await start((req, res) => {
      if (req.url === "/slow") requested.resolve(res);
      else res.end("here");
    });
    const idle = await dial(server, GET);
    await once(idle, "data");
    const fresh = await dial(server);
    const busy = await dial(server, GET.replace("/", "/slow"));
    const res = await requested.promise;
    const drained = server.drain(20_000);
    expect(await readAll(idle)).toBe("");
    expect(await readAll(fresh)).toBe("");
    res.end("late");
    expect(await readAll(busy)).toMatch(/\r\nConnection: close\r\n[\s\S]*late$/);
    expect(await drained).toBe(0);
  });

  it("answers a request whose first bytes had already arrived", async () => {
    const server = await start((_, res) => void res.end("here"));
    const socket = await dial(server, GET);
    await once(socket, "data");
    const rest = GET.slice(10);
    socket.write(GET.slice(0, 10));
    // On the loopback interface, later bytes arrive later.
    const other = await dial(server, GET);
    await once(other, "data");
    const drained = server.drain(20_000);
    socket.write(rest);
    expect(await readAll(socket)).toContain("here");
    expect(await drained).toBe(0);
  });

  it("cuts connections that have not ended in time and returns their number", async () => {
    const requested = deferred<void>();
    const server = await start(() => requested.resolve());
    const socket = await dial(server, GET);
    await requested.promise;
    const closed = closing(socket);
    expect(await server.drain(100)).toBe(1);
    await closed;
  });

  it("answers 400 to a request with several Host headers, at any address", async () => {
    let calls = 0;
    const server = await start((_, res) => {
      calls++;
      res.end("here");
    });
    for (const [first, second] of [
      ["Host: localhost", "Host: localhost"],
      ["host: localhost", "HOST: evil.example"],
    ]) {
      const reply = await readAll(
        await dial(server, `GET / HTTP/1.1\r\n${first}\r\nA: b\r\n${second}\r\n\r\n`),
      );
      expect(reply).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(reply).toMatch(/\r\nContent-Type: application\/problem\+json/);
    }
    expect(calls).toBe(0);
  });

  it("answers 417 to an unknown expectation", async () => {
    const server = await start((_, res) => void res.end("here"));
    const head = "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\nConnection: close\r\n\r\n";
    expect(await readAll(await dial(server, head))).toMatch(/^HTTP\/1\.1 417 /);
  });
});
