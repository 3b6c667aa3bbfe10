import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { Readable } from "node:stream";
import type { Service } from "@outrigger/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { HostView } from "./dispatch.ts";
import { dispatch, NodeCall, sendReady } from "./dispatch.ts";
import { nodeListener } from "./node-listener.ts";
import { sendReply } from "./send-reply.ts";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, "close");
  }
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("NodeCall", () => {
  it("calls no function of the host view before the service needs it", async () => {
    const asked: string[] = [];
    const ask =
      <T>(name: string, answer: T) =>
      () => {
        asked.push(name);
        return answer;
      };
    const view: HostView<string> = {
      protocol: ask("protocol", "HTTPS"),
      host: ask("host", "a.example:8443"),
      clientIp: ask("clientIp", undefined),
      parsedBody: ask("parsedBody", undefined),
      parsedFiles: ask("parsedFiles", []),
    };
    const origin = await listen(
      createServer((req, res) => {
        const call = new NodeCall(req, res, { url: "/a?b", mountPath: "/m", context: "ctx", view });
        expect([call.method, call.path, call.search, call.mountPath, call.context]).toEqual([
          "GET",
          "/a",
          "b",
          "/m",
          "ctx",
        ]);
        expect(call.signal.aborted).toBe(false);
        expect(asked).toEqual([]);
        expect([call.origin, call.secure, call.clientIp]).toEqual(["https://a.example:8443", true, ""]);
        expect(asked).toEqual(["protocol", "host", "protocol", "clientIp"]);
        res.end("ok");
      }),
    );
    expect(await (await fetch(origin)).text()).toBe("ok");
  });
});

describe("dispatch", () => {
  const view: HostView<null> = {
    protocol: () => "http",
    host: () => undefined,
    clientIp: () => undefined,
    parsedBody: () => undefined,
    parsedFiles: () => [],
  };

  it("leaves no listener on the request and the response after the service has settled", async () => {
    const service: Service = {
      async handle(call) {
        expect(call.signal.aborted).toBe(false);
        await call.fields({ maxBytes: 100, idleMs: 1000 });
        return undefined;
      },
    };
    const counts = (req: IncomingMessage, res: ServerResponse) => [
      res.listenerCount("close"),
      req.listenerCount("data"),
      req.listenerCount("end"),
      req.listenerCount("close"),
    ];
    const origin = await listen(
      createServer(async (req, res) => {
        const before = counts(req, res);
        await dispatch(service, req, res, { url: "/", mountPath: "", context: null, view });
        res.end(JSON.stringify([before, counts(req, res)]));
      }),
    );
    const reply = await fetch(origin, {
      method: "POST",
      body: "{}",
      headers: { "Content-Type": "application/json" },
    });
    const [before, after] = (await reply.json()) as number[][];
    expect(after).toEqual(before);
  });

  it("resumes the request if the service fails in the middle of a body", async () => {
    const service: Service = {
      async handle(call) {
        await call.fields({ maxBytes: 10, idleMs: 1000 });
        return undefined;
      },
    };
    const origin = await listen(
      createServer((req, res) => {
        dispatch(service, req, res, { url: "/", mountPath: "", context: null, view }).catch((error) => {
          req.once("end", () => res.writeHead(500).end(error.code));
        });
      }),
    );
    const body = `{"a":"${"x".repeat(3_000_000)}"}`;
    const reply = await fetch(origin, {
      method: "POST",
      body: new Blob([body]).stream(),
      duplex: "half",
      headers: { "Content-Type": "application/json" },
    } as RequestInit);
    expect(await reply.text()).toBe("too_large");
  });
});

describe("sendReady", () => {
  it("sets the headers for a writeHead of middleware that reads a list as pairs, as on-headers 1.0 does", async () => {
    const origin = await listen(
      createServer((_req, res) => {
        const { writeHead } = res;
        res.writeHead = (status: number, given?: unknown) => {
          for (const [name, value] of (given as [string, string][]) ?? []) res.setHeader(name, value);
          res.setHeader("X-Of-Middleware", "1");
          return writeHead.call(res, status);
        };
        sendReady(res, { status: 203, headers: ["ETag", '"a"', "X-B", "c"], body: Buffer.from("picture") });
      }),
    );
    const response = await fetch(origin);
    const named = ["ETag", "X-B", "X-Of-Middleware"].map((name) => response.headers.get(name));
    expect([response.status, ...named, await response.text()]).toEqual([203, '"a"', "c", "1", "picture"]);
  });
});

describe("sendReply", () => {
  it("destroys the stream of a reply with invalid headers and rejects with the reason", async () => {
    const source = Readable.from(["x"]);
    let failure: unknown;
    const origin = await listen(
      createServer((_req, res) => {
        sendReply(res, { status: 200, headers: { "Bad\nName": "x" }, body: source }).catch((error) => {
          failure = error;
          res.end("told");
        });
      }),
    );
    expect(await (await fetch(origin)).text()).toBe("told");
    expect(failure).toMatchObject({ code: "ERR_INVALID_HTTP_TOKEN" });
    expect(source.destroyed).toBe(true);
  });
});

describe("node bridge over HTTP/2", () => {
  it("replies, reads fields, and receives uploads without a Content-Length", async () => {
    const service: Service = {
      async handle(call) {
        const value =
          call.path === "/upload"
            ? await call
                .upload({
                  fileFields: ["f"],
                  maxFileBytes: 100_000,
                  maxFields: 1,
                  maxFieldBytes: 10,
                  idleMs: 1000,
                  minBytesPerSecond: 0,
                })
                .then(async ({ file }) => {
                  await file.dispose();
                  return file.size;
                })
                .catch((error) => error.code)
            : { fields: await call.fields({ maxBytes: 100, idleMs: 1000 }), origin: call.origin };
        return { status: 200, headers: { connection: "close" }, body: JSON.stringify(value) };
      },
    };
    const warned = vi.fn();
    process.on("warning", warned);
    const server = createHttp2Server(nodeListener(service));
    const origin = await listen(server);
    const client = connect(origin);
    const ask = async (path: string, headers: Record<string, string> = {}, body?: string) => {
      const stream = client.request(
        { ":path": path, ":method": body === undefined ? "GET" : "POST", ...headers },
        { endStream: body === undefined },
      );
      if (body !== undefined) stream.end(body);
      let text = "";
      for await (const chunk of stream) text += chunk;
      return JSON.parse(text);
    };
    const multipart = (size: number) =>
      `--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n${"y".repeat(size)}\r\n--x--\r\n`;
    const type = { "content-type": "multipart/form-data; boundary=x" };
    try {
      expect(await ask("/")).toEqual({ fields: null, origin });
      expect(await ask("/", { "content-type": "application/json" }, '{"a":1}')).toEqual({
        fields: { a: 1 },
        origin,
      });
      expect(await ask("/upload", type, multipart(50_000))).toBe(50_000);
      expect(await ask("/upload", type, multipart(3_000_000))).toBe("too_large");
      expect(await ask("/upload", type, multipart(10))).toBe(10);
      expect(warned).not.toHaveBeenCalled();
    } finally {
      process.off("warning", warned);
      client.close();
    }
  });
});
