import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { never, useMailWorld, world } from "../test/mail-world.ts";
import type { ConnectTarget } from "./prober-options.ts";

useMailWorld();

const asking = () => ({ smtp: true, signal: never() });
const direct = ({ address, port }: ConnectTarget) => connect({ host: address, port });

test("connect gets the checked address, the port and the name of the mail host, and its stream is used", async () => {
  const server = await world.serve("one.test");
  const targets: unknown[] = [];
  const prober = world.prober({
    connect: ({ signal, ...target }) => {
      targets.push([target, signal.aborted]);
      return direct({ signal, ...target });
    },
  });
  expect(await prober.probe("alice", "one.test", asking())).toMatchObject({
    mailbox: true,
    acceptsAll: false,
  });
  expect(targets).toEqual([[{ address: server.host, port: server.port, hostName: "mx0.one.test" }, false]]);
});

test("connect is never called for an address that is forbidden", async () => {
  world.route("inside.test", "10.0.0.1", "169.254.169.254");
  world.dns.zone["mx1.inside.test"] = { AAAA: ["::ffff:10.0.0.1", "fe80::1"] };
  let calls = 0;
  const prober = world.prober({
    connect: (target) => {
      calls++;
      return direct(target);
    },
  });
  expect(await prober.probe("alice", "inside.test", asking())).toMatchObject({ reason: "forbidden_address" });
  expect(calls).toBe(0);
});

test("a socket from another address of the machine reaches the mail host from there", async () => {
  const peers: (string | undefined)[] = [];
  const server = await world.hostileServer((peer) => {
    peers.push(peer.socket.remoteAddress);
    peer.socket.end("554 no\r\n");
  });
  world.route("one.test", server.host);
  const prober = world.prober({
    connect: ({ address, port }) => connect({ host: address, port, localAddress: "127.0.0.9" }),
  });
  expect(await prober.probe("alice", "one.test", asking())).toMatchObject({ server: true, reason: "policy" });
  expect(peers).toEqual(["127.0.0.9"]);
});

test("STARTTLS works over a stream that is no socket", async () => {
  const server = await world.serve("one.test", { tls: "works" });
  const prober = world.prober({
    async connect(target) {
      const socket = direct(target);
      await once(socket, "connect");
      return Duplex.from({ readable: socket, writable: socket });
    },
  });
  expect(await prober.probe("alice", "one.test", asking())).toMatchObject({
    mailbox: true,
    acceptsAll: false,
  });
  expect(server.commands).toContain("STARTTLS");
});

const destroyed = () => {
  const stream = new Duplex();
  stream.destroy();
  return stream;
};
test.each<[string, () => Duplex | Promise<Duplex>]>([
  [
    "throws",
    () => {
      throw new Error("The proxy is down");
    },
  ],
  ["rejects", () => Promise.reject(new Error("The proxy is down"))],
  ["rejects with no error", () => Promise.reject(undefined)],
  ["returns no stream", () => Promise.resolve(undefined as never)],
  ["returns a stream that has ended", () => Duplex.from([])],
  ["returns a destroyed stream", destroyed],
  ["returns a socket that is refused", () => connect({ host: "127.0.0.1", port: 1 })],
  ["never resolves", () => new Promise(() => {})],
])("a connect function that %s yields no_connection", async (_, open) => {
  world.route("one.test", "127.0.0.1");
  const prober = world.prober({ connect: open, connectMs: 300 });
  expect(await prober.probe("alice", "one.test", asking())).toEqual({
    ...{ routing: "found", server: false, mailbox: null, acceptsAll: null },
    ...{ reason: "no_connection", retryAfterMs: null },
  });
});

test.each(["after connectMs", "after an abort"])("a stream that arrives %s is destroyed", async (when) => {
  world.route("one.test", "127.0.0.1");
  const stream = new Duplex({ read() {}, write() {} });
  let arrive = () => {};
  let target: ConnectTarget | undefined;
  const prober = world.prober({
    connectMs: when === "after connectMs" ? 100 : 60_000,
    connect(given) {
      target = given;
      return new Promise((resolve) => {
        arrive = () => resolve(stream);
      });
    },
  });
  const controller = new AbortController();
  const result = prober.probe("alice", "one.test", { smtp: true, signal: controller.signal });
  await expect.poll(() => target).toBeDefined();
  if (when === "after an abort") controller.abort();
  expect((await result).reason).toBe(when === "after connectMs" ? "no_connection" : "timeout");
  await expect.poll(() => target?.signal.aborted).toBe(true);
  arrive();
  await expect.poll(() => stream.destroyed).toBe(true);
});

/** A SOCKS5 proxy that knows nothing but CONNECT to an IPv4 address. It records where to. */
async function startProxy(places: string[], method = 0, answer = 0): Promise<Server> {
  const proxy = createServer(async (client) => {
    client.on("error", () => client.destroy());
    const greeting = await read(client);
    expect([...greeting]).toEqual([5, 1, 0]);
    client.write(Buffer.from([5, method]));
    if (method !== 0) return;
    const request = await read(client);
    expect([...request.subarray(0, 4)]).toEqual([5, 1, 0, 1]);
    const [host, port] = [request.subarray(4, 8).join("."), request.readUInt16BE(8)];
    places.push(`${host}:${port}`);
    const reply = Buffer.from([5, answer, 0, 1, 127, 0, 0, 1, 0, 25]);
    if (answer !== 0) return void client.end(reply);
    const upstream = connect({ host, port });
    upstream.on("error", () => client.destroy());
    // In pieces, with the greeting of the mail host directly behind the last one.
    client.write(reply.subarray(0, 3));
    await once(upstream, "readable");
    client.write(Buffer.concat([reply.subarray(3), upstream.read()]));
    upstream.pipe(client).pipe(upstream);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return proxy;
}

async function read(socket: Socket): Promise<Buffer> {
  await once(socket, "readable");
  return socket.read();
}

/** The function as the guide has it. */
async function throughSocks(proxy: Server): Promise<(target: ConnectTarget) => Promise<Duplex>> {
  const guide = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const code = guide.split("```").find((block) => block.includes("throughSocks(proxy)")) ?? "";
  const { throughSocks: through } = await import(`data:text/javascript,${encodeURIComponent(code.slice(2))}`);
  return through({ host: "127.0.0.1", port: (proxy.address() as AddressInfo).port });
}

test.each(["none", "works"] as const)(
  "the SOCKS5 function of the guide reaches a mail host through a proxy, with TLS: %s",
  async (tls) => {
    const server = await world.serve("one.test", { tls });
    const places: string[] = [];
    const proxy = await startProxy(places);
    const prober = world.prober({ connect: await throughSocks(proxy) });
    const result = await prober.probe("absent", "one.test", asking());
    expect(result).toMatchObject({ server: true, mailbox: false, reason: "user_unknown" });
    expect(places).toEqual([`${server.host}:${server.port}`]);
    await prober.close();
    proxy.close();
  },
);

test.each([
  ["requires a password", 255, 0],
  ["refuses the host", 0, 5],
])("the SOCKS5 function of the guide yields no_connection if the proxy %s", async (_, method, answer) => {
  world.route("one.test", "127.0.0.1");
  const proxy = await startProxy([], method, answer);
  const prober = world.prober({ connect: await throughSocks(proxy) });
  expect(await prober.probe("alice", "one.test", asking())).toMatchObject({ reason: "no_connection" });
  await prober.close();
  proxy.close();
});
