import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { jpeg, temporaryDirectory, uploaded } from "../../../test/outrigger-process.ts";
import type { ServerConfig } from "../../config/config-rules.ts";
import { createServer, type RunningServer } from "./create-server.ts";

const servers = new Set<RunningServer>();

afterEach(async () => {
  for (const server of servers) await server.close();
  servers.clear();
});

async function start(config: ServerConfig = {}): Promise<RunningServer> {
  const data = join(await temporaryDirectory(), "data");
  const server = await createServer({ port: 0, data, log: { level: "silent" }, ...config });
  servers.add(server);
  return server;
}

describe("createServer", () => {
  it("serves until it is closed, and accepts a second close", async () => {
    const server = await start();
    const image = await uploaded(server.url, await jpeg());
    expect((await fetch(image.url)).status).toBe(200);
    await Promise.all([server.close(), server.close()]);
    await expect(fetch(server.url)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
  });

  it("adds no signal listeners and leaves none behind", async () => {
    const events = ["SIGTERM", "SIGINT", "uncaughtException", "unhandledRejection", "beforeExit"];
    const count = () => events.map((event) => process.listenerCount(event));
    const before = count();
    const server = await start();
    expect(count()).toEqual(before);
    await server.close();
    expect(count()).toEqual(before);
  });

  it("throws a TypeError that names the invalid keys", async () => {
    const config = JSON.parse('{"port": "eighty", "images": {"size": 1}}');
    const thrown = await createServer(config).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(TypeError);
    expect(String(thrown)).toBe(
      "ConfigError: The configuration is not valid\n" +
        "port: must be a whole number from 0 to 65535\n" +
        "images.size: unknown key, did you mean images.sizes?",
    );
  });

  it("rejects if its port is in use, and starts once the port is free", async () => {
    const first = await start();
    const port = Number(new URL(first.url).port);
    await expect(start({ port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is already in use.`);
    await first.close();
    expect((await start({ port })).url).toBe(first.url);
  });
});

describe("metrics of createServer", () => {
  it("are served at metricsUrl until the server is closed", async () => {
    const server = await start({ metrics: { port: 0 } });
    await uploaded(server.url, await jpeg());
    const url = server.metricsUrl ?? "";
    expect(await (await fetch(url)).text()).toContain('route="/api/images.json",status="201"} 1\n');
    await server.close();
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
  });

  it("prevent the start if their port is in use, and release everything", async () => {
    const first = await start();
    const port = Number(new URL(first.url).port);
    await expect(start({ metrics: { port } })).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is already in use. Set another port.`,
    );
    const second = await start({ metrics: { port: 0 } });
    const metricsPort = Number(new URL(second.metricsUrl ?? "").port);
    await second.close();
    // The metrics listen first, and release their port if the port of the pictures is in use.
    await expect(start({ port, metrics: { port: metricsPort } })).rejects.toThrow("Set another port.");
    expect((await start({ metrics: { port: metricsPort } })).metricsUrl).toBe(second.metricsUrl);
  });
});

describe("createServer behind a proxy", () => {
  /** The headers that a proxy on this machine forwards. */
  async function getForwarded({ url }: RunningServer, path: string): Promise<number | undefined> {
    const headers = {
      Host: "img.example.com",
      "X-Forwarded-Proto": "https",
      "X-Forwarded-For": "203.0.113.7",
    };
    const [response] = await once(request(url + path, { headers }).end(), "response");
    response.resume();
    return response.statusCode;
  }

  it("trusts forwarding headers of a proxy in trustProxy", async () => {
    const server = await start({ trustProxy: "loopback" });
    const { id } = await uploaded(server.url, await jpeg());
    expect(await getForwarded(server, `/${id}`)).toBe(200);
  });
});

describe("a request with Expect: 100-continue", () => {
  const upload = (picture: Buffer) => {
    const head =
      '--X\r\nContent-Disposition: form-data; name="imagedata"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n';
    return Buffer.concat([Buffer.from(head), picture, Buffer.from("\r\n--X--\r\n")]);
  };
  const headOf = (target: string, length: number, type = "multipart/form-data; boundary=X") =>
    [
      ...[`${target} HTTP/1.1`, "Host: localhost", "User-Agent: Test/1.0", "Expect: 100-continue"],
      ...[`Content-Type: ${type}`, `Content-Length: ${length}`, "Connection: close", "", ""],
    ].join("\r\n");

  /** Sends a head, and the body once the server asks for it. Returns all that the server sent. */
  async function send(server: RunningServer, head: string, body: Buffer): Promise<string> {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.write(head);
    let received = "";
    for await (const chunk of socket) {
      if (received === "" && String(chunk).startsWith("HTTP/1.1 100 ")) socket.write(body);
      received += chunk;
    }
    return received;
  }

  it.each<[string, string, number, string?]>([
    ["413 for a body that is too long", "POST /api/images.json", 99_999_999],
    ["413 for a change that is too long", "PATCH /api/images/ID.json", 99_999_999, "application/json"],
    ["415 for a body of another type", "POST /api/images.json", 10, "text/plain"],
    ["404 for an address without a resource", "POST /api/images", 10],
    ["405 for a method without a body", "POST /healthz", 10],
  ])("answers %s before the body, without 100 Continue", async (which, target, length, type) => {
    const server = await start();
    const { id } = await uploaded(server.url, await jpeg());
    const received = await send(server, headOf(target.replace("ID", id), length, type), Buffer.alloc(0));
    expect(received.slice(0, 12)).toBe(`HTTP/1.1 ${which.slice(0, 3)}`);
    expect(received).not.toContain("100 Continue");
  });

  it("gets 100 Continue and then the reply, if the body is read", async () => {
    const server = await start();
    const body = upload(await jpeg());
    const received = await send(server, headOf("POST /api/images.json", body.length), body);
    expect(received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    const [, id, pin] = /"id":"([^"]+)".*"pin":"([^"]+)"/.exec(received) ?? [];
    const change = Buffer.from(JSON.stringify({ name: "New", pin }));
    const head = headOf(`PATCH /api/images/${id}.json`, change.length, "application/json");
    expect(await send(server, head, change)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  });
});
