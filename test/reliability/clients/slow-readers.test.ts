import { Agent, createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { duplexPair, Readable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { connect } from "node:tls";
import type { Reply, Service } from "@outrigger/core";
import { nodeListener } from "@outrigger/node";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fetchReply, until } from "../../../packages/testing/src/adapter/http-client.ts";
import { HOST_NAMES, startHost } from "../../support/hosts.ts";
import { type Host, listen } from "../../support/listen.ts";
import { holdUpReply, patienceWithReader } from "./held-up-reply.ts";
import { PATIENT_HOSTS, startPatientHost } from "./patient-hosts.ts";

const MIB = 1024 * 1024;
/** More than the kernel buffers for one connection. */
const PICTURE = Buffer.alloc(24 * MIB, 1);
const TEN_MINUTES_MS = 600_000;

/** Each path sends the picture in another way. */
function pictures(): Service & { sources: Readable[] } {
  const sources: Readable[] = [];
  const streamed = (source: Readable) => {
    sources.push(source);
    return source;
  };
  return {
    sources,
    async handle({ path }) {
      const reply = (body: string | Uint8Array | Readable, length?: number): Reply => ({
        status: 200,
        headers: {
          "Content-Type": "image/png",
          ...(length === undefined ? {} : { "Content-Length": `${length}` }),
        },
        body,
      });
      if (path === "/buffer") return reply(PICTURE, PICTURE.length);
      if (path === "/stream") return reply(streamed(Readable.from(pieces())), PICTURE.length);
      if (path === "/unmeasured") return reply(streamed(Readable.from(pieces())));
      if (path === "/small") return reply(PICTURE.subarray(0, 60_000), 60_000);
      return undefined;
    },
  };
}

function* pieces(): Generator<Buffer> {
  for (let start = 0; start < PICTURE.length; start += 65536) yield PICTURE.subarray(start, start + 65536);
}

describe("slow readers", () => {
  const hosts: Host[] = [];
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    for (const host of hosts.splice(0)) await host.close();
  });

  for (const name of HOST_NAMES) {
    describe(name, () => {
      async function start(service: Service): Promise<Host> {
        const host = await startHost(name, service, "");
        hosts.push(host);
        return host;
      }

      it.each(["/buffer", "/stream", "/unmeasured"])(
        "a client that does not read %s is cut after 30 to 40 s",
        async (path) => {
          const service = pictures();
          const host = await start(service);
          const patienceMs = await patienceWithReader(host, path, TEN_MINUTES_MS);
          expect(patienceMs).toBeGreaterThanOrEqual(30_000);
          expect(patienceMs).toBeLessThanOrEqual(40_000);
          await until(() => service.sources.every((source) => source.closed), "the source to close");
          expect(vi.getTimerCount()).toBe(0);
        },
      );

      it.each(["/buffer", "/stream"])(
        "a client that reads %s slowly but steadily is not cut, and its connection keeps its settings",
        async (path) => {
          const host = await start(pictures());
          host.server.timeout = 3_600_000;
          const { client, res, isCut, pass } = await holdUpReply(host.server, host.origin, path);
          let received = 0;
          client.on("data", (chunk) => {
            received += chunk.length;
            // Half of the readable bytes, and a rest.
            if (received % (4 * MIB) < chunk.length) client.pause();
          });
          const { socket } = res.req;
          const writeListeners = () => socket.listenerCount("drain") + socket.listenerCount("timeout");
          const before = writeListeners();
          let steps = 0;
          while (received < PICTURE.length) {
            client.resume();
            await until(() => client.isPaused() || received > PICTURE.length, "the client to read");
            await pass(25_000);
            steps++;
          }
          expect(steps).toBeGreaterThan(4);
          await until(() => res.closed, "the reply to end");
          expect(isCut()).toBe(false);
          expect(vi.getTimerCount()).toBe(0);
          expect(res.listenerCount("drain")).toBe(0);
          expect(writeListeners()).toBe(before);
          // The next request on the connection has the host's own time-out.
          const next = new Promise((resolve) => {
            host.server.prependOnceListener("request", (req) => resolve([req.socket, req.socket.timeout]));
          });
          client.resume().write("GET /small HTTP/1.1\r\nHost: a.example\r\n\r\n");
          expect(await next).toEqual([socket, 3_600_000]);
          client.destroy();
        },
      );

      it("a slow source does not cut the client", async () => {
        const source = new Readable({ read() {} });
        const host = await start({
          handle: async () => ({ status: 200, headers: { "Content-Length": "100003" }, body: source }),
        });
        source.push(Buffer.alloc(100_000));
        const whole = fetchReply(host.origin);
        await until(() => vi.getTimerCount() === 1, "the reply to begin");
        for (let minutes = 0; minutes < 60; minutes++) {
          vi.advanceTimersByTime(60_000);
          await turn();
        }
        source.push("end");
        source.push(null);
        expect((await whole).body).toHaveLength(100_003);
      });

      it("a reply that is read at once starts no timer", async () => {
        const host = await start(pictures());
        const setInterval = vi.spyOn(globalThis, "setInterval");
        const agent = new Agent({ keepAlive: true });
        for (let round = 0; round < 20; round++) {
          expect((await fetchReply(`${host.origin}/small`, { agent })).body).toHaveLength(60_000);
        }
        agent.destroy();
        expect(setInterval).not.toHaveBeenCalled();
        setInterval.mockRestore();
      });
    });
  }

  it("a TLS client is not cut while it may still be reading", async () => {
    // A pre-shared key works without certificates.
    const key = { psk: Buffer.alloc(16, 7), identity: "test" };
    const psk = { ciphers: "PSK", maxVersion: "TLSv1.2" } as const;
    const server = createSecureServer({ ...psk, pskCallback: () => key.psk }, nodeListener(pictures()));
    const { port } = await listen(server);
    const client = connect({
      ...{ ...psk, port, host: "127.0.0.1" },
      pskCallback: () => key,
      checkServerIdentity: () => undefined,
    });
    let isClosed = false;
    client.once("close", () => {
      isClosed = true;
    });
    let received = 0;
    client.on("data", (chunk) => {
      received += chunk.length;
      if (received % MIB < chunk.length) client.pause();
    });
    client.write("GET /buffer HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n");
    await until(() => client.isPaused(), "the reply to begin");
    while (received < PICTURE.length) {
      // Half a minute for one MiB.
      for (let passedMs = 0; passedMs < 30_000; passedMs += 5000) vi.advanceTimersByTime(5000);
      client.resume();
      await until(() => client.isPaused() || isClosed, "the client to read");
      if (isClosed) break;
    }
    client.resume();
    await until(() => isClosed, "the server to close the connection");
    expect(received).toBeGreaterThan(PICTURE.length);
    await new Promise((resolve) => server.close(resolve));
  });

  // The kernel's buffers hide very small reads, so this test uses no kernel socket.
  it("a client that reads less than the minimum rate is cut", async () => {
    const size = 512 * 1024;
    const server = createServer(
      nodeListener({
        handle: async () => ({
          status: 200,
          headers: { "Content-Length": `${size}` },
          body: Readable.from(pieces()),
        }),
      }),
    );
    const [client, connection] = duplexPair();
    server.emit("connection", connection);
    client.write("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    let cutAfterMs = 0;
    connection.once("close", () => {
      cutAfterMs = passedMs;
    });
    let passedMs = 0;
    for (; passedMs < TEN_MINUTES_MS && cutAfterMs === 0; passedMs += 5000) {
      // Takes one piece every 20 s, so it is never idle.
      if (passedMs % 20_000 === 0) client.read();
      for (let turns = 0; turns < 5; turns++) await turn();
      vi.advanceTimersByTime(5000);
    }
    // 60 s, plus 64 s for half a MiB at 8 KiB/s.
    expect(cutAfterMs).toBeGreaterThanOrEqual(124_000);
    expect(cutAfterMs).toBeLessThanOrEqual(140_000);
  });

  it.each(PATIENT_HOSTS)("the patience with slow readers is the service's, not that of %s", async (name) => {
    const host = await startPatientHost(name, PICTURE);
    hosts.push(host);
    expect(await patienceWithReader(host, "/", TEN_MINUTES_MS)).toBeNull();
  });
});
