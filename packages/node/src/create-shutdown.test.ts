import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  createServer as createHttp2Server,
  createSecureServer,
} from "node:http2";
import { createServer as createTlsServer, get as secureGet } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { describe, expect, it } from "vitest";
import type { AnyServer } from "./connections.ts";
import { createShutdown } from "./create-shutdown.ts";

// A pre-shared key needs no certificates.
const psk = Buffer.from("00112233445566778899aabbccddeeff", "hex");
const tls = { ciphers: "PSK", maxVersion: "TLSv1.2" } as const;
const serverTls = { ...tls, pskCallback: () => psk };
const clientTls = {
  ...tls,
  host: "127.0.0.1",
  pskCallback: () => ({ psk, identity: "test" }),
  checkServerIdentity: () => undefined,
};
const LONG_MS = 20_000;

async function listen(server: AnyServer): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port; // It listens on TCP.
}

/** A client whose connection resets are expected. */
async function dial(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

describe("createShutdown", () => {
  it("closes the services after the last reply, once, however often it is called", async () => {
    const steps: string[] = [];
    const server = createServer((_req, res) => {
      setTimeout(() => {
        steps.push("reply");
        res.end("done");
      }, 200);
    });
    const port = await listen(server);
    const shutDown = createShutdown(server, [{ close: async () => steps.push("close") }]);
    const replied = once(get({ port, host: "127.0.0.1" }), "response");
    await once(server, "request");
    const first = shutDown();
    expect(shutDown()).toBe(first);
    await first;
    const [response] = (await replied) as [IncomingMessage];
    expect(response.headers.connection).toBe("close");
    expect(await buffer(response)).toEqual(Buffer.from("done"));
    expect(steps).toEqual(["reply", "close"]);
  });

  it("lets a reply in progress end where the host redefines headersSent, as @fastify/express does", async () => {
    const server = createServer((_req, res) => {
      Object.defineProperty(res, "headersSent", { get: () => false });
      res.writeHead(200).write("be");
      setTimeout(() => res.end("gun"), 200);
    });
    const port = await listen(server);
    const shutDown = createShutdown(server, []);
    const [response] = (await once(get({ port, host: "127.0.0.1" }), "response")) as [IncomingMessage];
    const [body] = await Promise.all([buffer(response), shutDown()]);
    expect(body).toEqual(Buffer.from("begun"));
  });

  it("cuts a stalled request after timeoutMs, and then gives the services a second", async () => {
    let given: unknown;
    const server = createServer(() => undefined);
    const port = await listen(server);
    const close = async (options?: object) => {
      given = options;
    };
    const shutDown = createShutdown(server, [{ close }], { timeoutMs: 300 });
    const socket = await dial(port);
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf");
    await once(server, "request");
    const started = performance.now();
    await Promise.all([shutDown(), once(socket, "close")]);
    expect(performance.now() - started).toBeGreaterThan(290);
    expect(given).toEqual({ timeoutMs: 1000 });
  });

  it("sends a buffered reply to a slow client completely over TLS, and closes idle connections", async () => {
    const body = Buffer.alloc(24 * 1024 * 1024, "x");
    const server = createTlsServer(serverTls, (req, res) => void res.end(req.url === "/" ? body : "idle"));
    const port = await listen(server);
    const shutDown = createShutdown(server, [], { timeoutMs: LONG_MS });
    const idle = connectTls({ ...clientTls, port }).on("error", () => undefined);
    idle.write("GET /idle HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(idle, "data");
    const replied = once(secureGet({ ...clientTls, port, agent: false }), "response");
    const [response] = (await replied) as [IncomingMessage];
    const done = shutDown();
    await once(idle.resume(), "close");
    expect((await buffer(response)).length).toBe(body.length);
    await done;
  });

  it("cuts a TLS handshake that stalls", async () => {
    const server = createTlsServer(serverTls);
    const port = await listen(server);
    const shutDown = createShutdown(server, [], { timeoutMs: 200 });
    const socket = await dial(port);
    await Promise.all([once(socket, "close"), shutDown()]);
  });

  describe.each([
    ["HTTP/2", () => createHttp2Server(), (port: number) => connectHttp2(`http://127.0.0.1:${port}`)],
    [
      "HTTP/2 over TLS",
      () => createSecureServer(serverTls),
      (port: number) => connectHttp2(`https://127.0.0.1:${port}`, clientTls),
    ],
  ])("over %s", (_, create, dialHttp2: (port: number) => ClientHttp2Session) => {
    it("lets a reply in progress end without a Connection header, then closes its session", async () => {
      const server = create();
      const requested = new Promise<ServerResponse>((resolve) => {
        server.on("request", (_req, res) => resolve(res as unknown as ServerResponse)); // The compatible part.
      });
      const port = await listen(server);
      const shutDown = createShutdown(server, [], { timeoutMs: LONG_MS });
      const client = dialHttp2(port);
      const stream = client.request({ ":path": "/" });
      const responded = once(stream, "response");
      const res = await requested;
      const done = shutDown();
      res.end("late");
      const [headers] = await responded;
      expect(headers.connection).toBeUndefined();
      expect(await buffer(stream)).toEqual(Buffer.from("late"));
      await Promise.all([done, client.closed || once(client, "close")]);
    });

    it("cuts a stream that stalls, and closes an idle session at once", async () => {
      const server = create();
      const port = await listen(server);
      const requested = once(server, "request");
      const shutDown = createShutdown(server, [], { timeoutMs: 2000 });
      const [idle, stalled] = [dialHttp2(port), dialHttp2(port)];
      await once(idle, "connect");
      const closed: string[] = [];
      idle.on("close", () => closed.push("idle"));
      stalled.on("error", () => undefined).on("close", () => closed.push("stalled"));
      const stream = stalled.request({ ":method": "POST", ":path": "/" });
      stream.on("error", () => undefined).write("half");
      await requested;
      await shutDown();
      await expect.poll(() => closed).toEqual(["idle", "stalled"]);
    });
  });

  it("throws a TypeError for what is no server, no list of services or no time", () => {
    const server = createServer();
    const wrong: [unknown, unknown, unknown, string][] = [
      [{}, [], {}, "createShutdown: server must be a server"],
      [server, { close: async () => undefined }, {}, "createShutdown: closables must be a list of services"],
      [server, [], { timeoutMs: -1 }, "createShutdown: timeoutMs must be a whole number"],
    ];
    for (const [given, closables, options, message] of wrong) {
      expect(() => createShutdown(given as never, closables as never, options as never)).toThrow(message);
    }
  });
});
