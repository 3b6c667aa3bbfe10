import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import {
  type Call,
  createLookup,
  createMemoryAccounts,
  createMemoryContactSource,
  createMemorySuppressionList,
  type Reply,
  type Service,
} from "@outrigger/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { endless, MIB } from "../test/endless.ts";
import { type FetchHandlerOptions, toFetchHandler } from "./fetch-handler.ts";

const KNOWN = { clientAddress: () => "203.0.113.9" };

afterEach(() => {
  vi.restoreAllMocks();
});

function answering(handle: (call: Call) => Reply | undefined | Promise<Reply | undefined>): Service {
  return { handle: async (call) => handle(call) };
}

/** Passes one request to a handler for the service. */
const send = (service: Service, init: RequestInit & { duplex?: "half" } = {}) =>
  toFetchHandler(service, KNOWN)(new Request("http://localhost/", init));

const EMPTY = answering(() => ({ status: 204, headers: {} }));

/** The call that the service gets for a request. */
async function callOf(url: string, options: FetchHandlerOptions = {}, ...args: unknown[]): Promise<Call> {
  let seen: Call | undefined;
  const service = answering((call) => {
    seen = call;
    return { status: 204, headers: {} };
  });
  await toFetchHandler(service, { ...KNOWN, ...options })(new Request(url), ...args);
  if (seen === undefined) throw new Error("The service was not called");
  return seen;
}

describe("toFetchHandler", () => {
  it("answers a request outside the service's routes with 404 as application/problem+json, or with null", async () => {
    const silent = answering(() => undefined);
    for (const url of ["http://localhost/img/a", "http://localhost/other"]) {
      const reply = await toFetchHandler(silent, { ...KNOWN, prefix: "/img" })(new Request(url));
      expect(reply.status).toBe(404);
      expect(reply.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
      expect(await reply.json()).toEqual({ type: "about:blank", title: "Not Found", status: 404 });
      const options = { ...KNOWN, prefix: "/img", otherwise: "null" } as const;
      expect(await toFetchHandler(silent, options)(new Request(url))).toBe(null);
    }
  });

  it("leaves the body of a request that it answers with null to the host", async () => {
    const options = { ...KNOWN, otherwise: "null" } as const;
    const request = new Request("http://localhost/", { method: "POST", body: "text" });
    const silent = answering(() => undefined);
    expect(await toFetchHandler(silent, options)(request)).toBe(null);
    expect(await request.text()).toBe("text");
  });

  it("warns once that all clients share one limit if clientAddress is absent, and not otherwise", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const handler = toFetchHandler(EMPTY);
    await handler(new Request("http://localhost/"));
    await handler(new Request("http://localhost/"));
    await send(EMPTY);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.lastCall?.[0]).toMatch(/clientAddress/);
    expect(await callOf("http://localhost/", { clientAddress: undefined })).toMatchObject({
      clientIp: "",
      peerIp: "",
    });
  });

  it("takes the client's address, TLS and the hooks' context from the functions that the host passes", async () => {
    const options = {
      clientAddress: (_request: Request, env: { ip: string }) => env.ip,
      isSecure: (request: Request) => request.headers.get("x-tls") !== "off",
      context: (_request: Request, env: { ip: string }, user: string) => ({ ...env, user }),
    };
    const call = await callOf("http://app.example:8080/", options, { ip: "203.0.113.7" }, "ann");
    expect(call).toMatchObject({
      clientIp: "203.0.113.7",
      secure: true,
      origin: "https://app.example:8080",
      context: { ip: "203.0.113.7", user: "ann" },
    });
  });

  it.each([
    ["http://localhost:3000/", false],
    ["http://app.localhost/", false],
    ["http://127.0.0.2/", false],
    ["http://[::1]:3000/", false],
    ["http://2130706433/", false],
    ["http://app.example/", false],
    ["https://app.example/", true],
  ])("for %s the call is secure: %s, and the peer is the client that the host names", async (url, secure) => {
    const { origin } = new URL(url);
    for (const peerIp of ["203.0.113.7", "127.0.0.1", ""])
      expect(await callOf(url, { clientAddress: () => peerIp })).toMatchObject({ secure, peerIp, origin });
  });

  it("a client's Host does not exempt it from TLS, a loopback peer without a forwarding header is exempt", async () => {
    const lookup = createLookup({
      contacts: createMemoryContactSource({}),
      accounts: createMemoryAccounts(),
      suppressions: createMemorySuppressionList(),
      secret: "s".repeat(32),
    });
    const statusOf = async (url: string, clientAddress: (() => string) | undefined, headers = {}) =>
      (await toFetchHandler(lookup, { clientAddress })(new Request(`${url}/v2/account`, { headers }))).status;
    vi.spyOn(console, "warn").mockReturnValue();
    for (const host of ["localhost", "a.localhost", "127.0.0.1", "127.1", "[::1]", "0x7f.1"]) {
      const url = `http://${host}`;
      expect([host, await statusOf(url, () => "203.0.113.7")]).toEqual([host, 403]);
      expect([host, await statusOf(url, undefined)]).toEqual([host, 403]);
      const proxied = await statusOf(url, () => "127.0.0.1", { "X-Forwarded-For": "::1" });
      expect([host, proxied]).toEqual([host, 403]);
    }
    for (const peer of ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
      expect([peer, await statusOf("http://app.example", () => peer)]).toEqual([peer, 401]);
    await lookup.close();
  });

  it("sends repeated headers, and leaves out Connection, which belongs to the host", async () => {
    const service = answering(() => ({
      status: 200,
      headers: { "Set-Cookie": ["a=1", "b=2"], Link: ["</a>", "</b>"], Connection: "close" },
      body: "x",
    }));
    const { headers } = await send(service);
    expect(headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(headers.get("link")).toBe("</a>, </b>");
    expect(headers.has("connection")).toBe(false);
  });

  it.each([
    ["GET", 204],
    ["GET", 205],
    ["GET", 304],
    ["HEAD", 200],
  ])("a reply to %s with status %d has no body, and its stream is destroyed", async (method, status) => {
    const source = endless();
    const service = answering(() => ({ status, headers: { ETag: '"a"' }, body: source }));
    const reply = await send(service, { method });
    expect([reply.status, reply.body, reply.headers.get("etag")]).toEqual([status, null, '"a"']);
    expect(source.destroyed).toBe(true);
  });

  it("destroys the stream of a reply with an invalid header, and rejects", async () => {
    const source = endless();
    const service = answering(() => ({ status: 200, headers: { "X-A": "a\nb" }, body: source }));
    await expect(send(service)).rejects.toThrow(TypeError);
    expect(source.destroyed).toBe(true);
  });

  it("throws a TypeError for invalid options", () => {
    expect(() => toFetchHandler({} as never)).toThrow(/service must be a service/);
    expect(() => toFetchHandler(EMPTY, { prefix: "img" })).toThrow(/prefix must be a path/);
    expect(() => toFetchHandler(EMPTY, { otherwise: "nothing" as never })).toThrow(/otherwise must be/);
    expect(() => toFetchHandler(EMPTY, { mountPath: "/img" } as never)).toThrow(/did you mean/);
  });
});

describe("call.signal", () => {
  it("aborts with request.signal before the reply, and the handler still resolves", async () => {
    const abort = new AbortController();
    let reason: unknown;
    const service = answering(async ({ signal }) => {
      await once(signal, "abort");
      reason = signal.reason;
      throw signal.reason;
    });
    const reply = send(service, { signal: abort.signal });
    abort.abort("left");
    expect((await reply).status).toBe(499);
    expect(reason).toMatchObject({ name: "AbortError", cause: "left" });
  });

  it("does not abort with request.signal after the reply", async () => {
    const abort = new AbortController();
    let signal: AbortSignal | undefined;
    const service = answering((call) => {
      signal = call.signal;
      return { status: 204, headers: {} };
    });
    await send(service, { signal: abort.signal });
    abort.abort();
    await wait(5);
    expect(signal?.aborted).toBe(false);
  });

  it("aborts if the request's body breaks off", async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("reset")),
    });
    let outcome: unknown;
    const service = answering(async (call) => {
      outcome = await call.fields({ maxBytes: 10, idleMs: 1000 }).catch((error: unknown) => error);
      expect(outcome).toBe(call.signal.reason);
      throw outcome;
    });
    expect((await send(service, { method: "POST", body: broken, duplex: "half" })).status).toBe(499);
    expect(outcome).toMatchObject({ name: "AbortError", cause: { message: "reset" } });
  });
});

describe("the unread rest of a request's body", () => {
  it("is read before the response ends, whose bytes come at once", async () => {
    let end = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(9));
        end = () => controller.close();
      },
    });
    const headers = { "Content-Type": "text/plain" };
    const refusing = answering(() => ({ status: 403, headers, body: "no" }));
    const reply = await send(refusing, { method: "POST", body, duplex: "half" });
    expect(reply.headers.get("content-length")).toBe("2");
    const reader = reply.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("no");
    const last = reader?.read();
    expect(await Promise.race([last, wait(50, "open")])).toBe("open");
    end();
    expect((await last)?.done).toBe(true);
  });

  it("is read to its end in the background, up to 8 MiB, and never cancelled", async () => {
    for (const [total, most] of [
      [3 * MIB, 3 * MIB],
      [64 * MIB, 12 * MIB],
    ] as const) {
      let sent = 0;
      let isCancelled = false;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          sent += MIB;
          controller.enqueue(new Uint8Array(MIB));
          if (sent >= total) controller.close();
        },
        cancel() {
          isCancelled = true;
        },
      });
      await send(EMPTY, { method: "POST", body, duplex: "half" });
      await wait(1200);
      expect(sent).toBeGreaterThanOrEqual(3 * MIB);
      expect(sent).toBeLessThanOrEqual(most);
      expect(isCancelled).toBe(false);
    }
  });
});
