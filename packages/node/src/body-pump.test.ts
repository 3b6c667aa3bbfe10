import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import type { UploadSlot } from "@outrigger/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type BodyLimits, BodyPump } from "./body-pump.ts";

const LIMITS = { maxBytes: 1_000_000, idleMs: 20_000, minBytesPerSecond: 1000 };
const HALF_MINUTE_MS = 30_000;

interface Pumped {
  client: Socket;
  pump: BodyPump;
  received: string;
  outcome: unknown;
  /** The target's return value for every chunk. */
  wantsMore: boolean;
}

describe("BodyPump", () => {
  const close: (() => Promise<void>)[] = [];
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    for (const each of close.splice(0)) await each();
  });

  /** Pumps the body of a real request. The test decides what the client sends after the head. */
  async function open(limits: BodyLimits = LIMITS, body = ""): Promise<Pumped> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1"); // The server listens on TCP.
    close.push(async () => {
      client.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    client.write(`POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
    const [req] = (await once(server, "request")) as [IncomingMessage];
    if (body !== "") await expect.poll(() => req.complete).toBe(true);
    const pumped: Omit<Pumped, "pump"> = { client, received: "", outcome: undefined, wantsMore: true };
    const pump = new BodyPump(req, limits, new AbortController().signal, {
      write(chunk) {
        pumped.received += chunk;
        return pumped.wantsMore;
      },
      end() {
        pumped.outcome = "end";
      },
      fail(error) {
        pumped.outcome = error;
      },
    });
    return Object.assign(pumped, { pump });
  }

  it("fails with timeout if a client sends below the minimum rate, however regularly", async () => {
    const pumped = await open();
    const { client } = pumped;
    for (let seconds = 0; seconds < 30; seconds += 5) {
      client.write("1\r\n.\r\n");
      await expect.poll(() => pumped.received).toHaveLength(seconds / 5 + 1);
      vi.advanceTimersByTime(5000);
    }
    expect(pumped.outcome).toBeUndefined();
    vi.advanceTimersByTime(1);
    client.write("1\r\n.\r\n");
    await expect.poll(() => pumped.outcome).toBeDefined();
    expect(pumped.outcome).toMatchObject({
      code: "timeout",
      message: "The body arrives too slowly: less than 1000 bytes per second on average",
    });
  });

  it("does not count the time in which the target is busy", async () => {
    const pumped = await open();
    pumped.wantsMore = false;
    pumped.client.write("1\r\n1\r\n");
    await expect.poll(() => pumped.received).toBe("1");
    vi.advanceTimersByTime(10 * HALF_MINUTE_MS);
    pumped.wantsMore = true;
    pumped.pump.resume();
    pumped.client.write("1\r\n2\r\n0\r\n\r\n");
    await expect.poll(() => pumped.outcome).toBe("end");
    expect(pumped.received).toBe("12");
  });

  it("delivers a fully buffered body after it gets a slot, and then ends", async () => {
    let begin: (() => void) | undefined;
    const slot: UploadSlot = {
      wait: () =>
        new Promise<void>((resolve) => {
          begin = resolve;
        }),
      mayRead: () => false,
      end() {},
    };
    const pumped = await open({ ...LIMITS, slot }, "5\r\nwhole\r\n0\r\n\r\n");
    await expect.poll(() => begin).toBeDefined();
    // The request would end within this time.
    for (let round = 0; round < 10; round++) await new Promise((resolve) => setImmediate(resolve));
    expect([pumped.received, pumped.outcome]).toEqual(["", undefined]);
    begin?.();
    await expect.poll(() => pumped.outcome).toBe("end");
    expect(pumped.received).toBe("whole");
  });

  it("counts a wait for a slot neither as silence nor as slowness", async () => {
    let hasSlot = false;
    let begin: (() => void) | undefined;
    const slot: UploadSlot = {
      wait: () =>
        new Promise<void>((resolve) => {
          begin = resolve;
        }),
      mayRead: () => hasSlot,
      end() {},
    };
    const idleMs = 300;
    const pumped = await open({ ...LIMITS, idleMs, slot });
    pumped.client.write("1\r\n1\r\n");
    await expect.poll(() => begin).toBeDefined();
    pumped.client.write("1\r\n2\r\n0\r\n\r\n");
    vi.advanceTimersByTime(10 * HALF_MINUTE_MS);
    await new Promise((resolve) => setTimeout(resolve, 2 * idleMs));
    expect(pumped.received).toBe("");
    hasSlot = true;
    begin?.();
    await expect.poll(() => pumped.outcome).toBe("end");
    expect(pumped.received).toBe("12");
  });

  it("accepts a slow client if there is no minimum rate", async () => {
    const pumped = await open({ ...LIMITS, minBytesPerSecond: 0 });
    pumped.client.write("1\r\n1\r\n");
    await expect.poll(() => pumped.received).toBe("1");
    vi.advanceTimersByTime(10 * HALF_MINUTE_MS);
    pumped.client.write("1\r\n2\r\n0\r\n\r\n");
    await expect.poll(() => pumped.outcome).toBe("end");
  });

  it("counts the rate from the first byte, as the average of the whole body", () => {
    const req = Object.assign(new Readable({ read() {} }), { headers: {} });
    const target = { write: () => true, end() {}, fail: vi.fn() };
    new BodyPump(req, LIMITS, new AbortController().signal, target);
    const send = (bytes: number) => req.emit("data", Buffer.alloc(bytes));
    vi.advanceTimersByTime(100 * HALF_MINUTE_MS);
    send(100_000);
    vi.advanceTimersByTime(100_000);
    send(1);
    expect(target.fail).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2);
    send(0);
    expect(target.fail).toHaveBeenCalledWith(expect.objectContaining({ code: "timeout" }));
  });
});
