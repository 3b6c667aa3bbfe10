import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, get, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";

const TIMEOUT_MS = 2000;

/** The recipe of the guides, and the host's own route of half a second. */
const HOSTS: Record<string, string> = {
  Express: `
    import { createShutdown, express as outrigger } from "@outrigger/express";
    import express from "express";
    const app = express();
    app.use("/img", outrigger(images));
    app.get("/host", (req, res) => { setTimeout(() => res.end("host"), Number(req.query.ms)); });`,
  Koa: `
    import { createShutdown, koa as outrigger } from "@outrigger/koa";
    import Koa from "koa";
    const app = new Koa();
    app.use(outrigger(images, { prefix: "/img" }));
    app.use(async (ctx) => {
      await new Promise((resolve) => setTimeout(resolve, Number(ctx.query.ms)));
      ctx.body = "host";
    });`,
};

const SERVER = `
  import { createImages, createMemoryBlobStore } from "@outrigger/core";
  const renderer = {
    build: "none",
    version: () => 1,
    measure: () => null,
    canRender: () => false,
    admit: async () => ({ width: 1, height: 1, pages: 1, cleaned: null }),
    render: () => Promise.reject(new Error("Nothing is rendered here")),
    close: async () => {},
  };
  const secret = "a secret of thirty-two bytes or more";
  const images = createImages({ storage: createMemoryBlobStore(), secret, renderer });`;

const RECIPES = {
  createShutdown: `process.once("SIGTERM", createShutdown(server, [images], { timeoutMs: ${TIMEOUT_MS} }));`,
  // What a host without the function would write.
  "server.close() and images.close()": `process.once("SIGTERM", () => { server.close(); images.close({ timeoutMs: ${TIMEOUT_MS} }); });`,
};

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

async function start(host: string, recipe: keyof typeof RECIPES) {
  const script = `${SERVER}${HOSTS[host]}
    const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));
    ${RECIPES[recipe]}
    process.once("SIGTERM", () => console.log("closing"));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const [port] = await once(child.stdout, "data");
  const origin = `http://127.0.0.1:${Number(port)}`;
  return { child, origin, exited: once(child, "exit") };
}

/** An upload of which the given part is sent at first. */
function beginUpload(origin: string, agent: Agent) {
  const picture = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const body = Buffer.concat([
    Buffer.from('--x\r\nContent-Disposition: form-data; name="imagedata"; filename="a.png"\r\n'),
    Buffer.from("Content-Type: image/png\r\n\r\n"),
    picture,
    Buffer.from("\r\n--x--\r\n"),
  ]);
  const req = request(`${origin}/img/api/images.json`, {
    method: "POST",
    agent,
    headers: {
      "User-Agent": "Test/1.0",
      "Content-Type": "multipart/form-data; boundary=x",
      "Content-Length": body.length,
    },
  });
  req.write(body.subarray(0, 20));
  const answered = once(req, "response").then(([response]) => response as IncomingMessage);
  answered.catch(() => undefined);
  return { req, rest: body.subarray(20), answered };
}

/** Resolves when the server has begun to read what was sent on other connections before. */
async function settled(origin: string): Promise<void> {
  for (let round = 0; round < 3; round++) await (await fetch(`${origin}/host?ms=20`)).text();
}

describe.each(Object.keys(HOSTS))("SIGTERM in %s", (host) => {
  test("idle connections close at once, and the process exits", async () => {
    const { child, origin, exited } = await start(host, "createShutdown");
    const agent = new Agent({ keepAlive: true });
    const [response] = (await once(get(`${origin}/host?ms=0`, { agent }), "response")) as [IncomingMessage];
    await text(response);
    const began = performance.now();
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    expect(performance.now() - began).toBeLessThan(TIMEOUT_MS);
  });

  test("an upload and a host's reply in progress end with Connection: close", async () => {
    const { child, origin, exited } = await start(host, "createShutdown");
    const agent = new Agent({ keepAlive: true });
    const { req, rest, answered } = beginUpload(origin, agent);
    const own = once(get(`${origin}/host?ms=1000`, { agent }), "response");
    await settled(origin);
    const began = performance.now();
    child.kill("SIGTERM");
    await once(child.stdout ?? child, "data");
    req.end(rest);
    const [created, [reply]] = await Promise.all([answered, own as Promise<[IncomingMessage]>]);
    expect([created.statusCode, created.headers.connection]).toEqual([201, "close"]);
    expect([await text(reply), reply.headers.connection]).toEqual(["host", "close"]);
    created.resume();
    expect(await exited).toEqual([0, null]);
    expect(performance.now() - began).toBeLessThan(TIMEOUT_MS);
  });

  test.each(Object.keys(RECIPES) as (keyof typeof RECIPES)[])(
    "an upload that stalls holds the process for timeoutMs at most, with %s",
    async (recipe) => {
      const { child, origin, exited } = await start(host, recipe);
      const agent = new Agent({ keepAlive: true });
      const { req, answered } = beginUpload(origin, agent);
      const outcome = answered.then(
        ({ statusCode, headers }) => [statusCode, headers.connection],
        (error) => error.code,
      );
      req.on("error", () => undefined);
      await settled(origin);
      const began = performance.now();
      child.kill("SIGTERM");
      expect(await exited).toEqual([0, null]);
      const tookMs = performance.now() - began;
      expect(tookMs).toBeGreaterThan(TIMEOUT_MS - 50);
      // The connection of a refused upload lingers for a second.
      expect(tookMs).toBeLessThan(TIMEOUT_MS + 3000);
      expect(await outcome).toEqual(recipe === "createShutdown" ? "ECONNRESET" : [503, "close"]);
    },
  );
});
