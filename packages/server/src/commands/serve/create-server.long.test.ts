import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { jpeg, temporaryDirectory, uploaded } from "../../../test/outrigger-process.ts";
import type { ServerConfig } from "../../config/server-config.ts";
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
  it("serves until it is closed, once or twice", async () => {
    const server = await start();
    const image = await uploaded(server.url, await jpeg());
    expect((await fetch(image.url)).status).toBe(200);
    await Promise.all([server.close(), server.close()]);
    await expect(fetch(server.url)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
  });

  it("leaves the process to its caller: no listeners stay behind, none for signals come", async () => {
    const events = ["SIGTERM", "SIGINT", "uncaughtException", "unhandledRejection", "beforeExit"];
    const count = () => events.map((event) => process.listenerCount(event));
    const before = count();
    const server = await start();
    expect(count()).toEqual(before);
    await server.close();
    expect(count()).toEqual(before);
  });

  it("throws a TypeError that names the keys", async () => {
    const config = JSON.parse('{"port": "eighty", "images": {"size": 1}}');
    const thrown = await createServer(config).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(TypeError);
    expect(String(thrown)).toBe(
      "ConfigError: The configuration is not valid\n" +
        "port: must be a whole number from 0 to 65535\n" +
        "images.size: unknown key, did you mean images.sizes?",
    );
  });

  it("rejects when its port is taken, and takes it once it is free", async () => {
    const first = await start();
    const port = Number(new URL(first.url).port);
    await expect(start({ port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is already in use.`);
    await first.close();
    expect((await start({ port })).url).toBe(first.url);
  });
});

describe("createServer, its metrics", () => {
  it("are off unless they are asked for", async () => {
    expect((await start()).metricsUrl).toBeNull();
  });

  it("are where it says, until it is closed", async () => {
    const server = await start({ metrics: { port: 0 } });
    await uploaded(server.url, await jpeg());
    const url = server.metricsUrl ?? "";
    expect(await (await fetch(url)).text()).toContain('route="/api/images.json",status="201"} 1\n');
    await server.close();
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
  });

  it("stand in the way of a start when their port is taken, and leave nothing behind then", async () => {
    const first = await start();
    const port = Number(new URL(first.url).port);
    await expect(start({ metrics: { port } })).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is already in use. Choose another by metrics.port.`,
    );
    const second = await start({ metrics: { port: 0 } });
    const metricsPort = Number(new URL(second.metricsUrl ?? "").port);
    await second.close();
    // The port of the metrics is taken first, and given back when that of the pictures cannot be had.
    await expect(start({ port, metrics: { port: metricsPort } })).rejects.toThrow(
      "Choose another by --port.",
    );
    expect((await start({ metrics: { port: metricsPort } })).metricsUrl).toBe(second.metricsUrl);
  });
});

describe("createServer, behind a proxy", () => {
  /** What a proxy on this machine passes on. */
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

  it("does not believe a proxy that it was not told of", async () => {
    const server = await start();
    const { id } = await uploaded(server.url, await jpeg());
    expect(await getForwarded(server, `/${id}`)).toBe(403);
  });

  it("believes one that it was told of", async () => {
    const server = await start({ trustProxy: "loopback" });
    const { id } = await uploaded(server.url, await jpeg());
    expect(await getForwarded(server, `/${id}`)).toBe(200);
  });

  it("leaves TLS to others where it is told so", async () => {
    const server = await start({ tls: "off" });
    const { id } = await uploaded(server.url, await jpeg());
    expect(await getForwarded(server, `/${id}`)).toBe(200);
  });
});
