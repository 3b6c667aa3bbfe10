import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer as createTlsServer } from "node:https";
import { createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { createSelfSigned } from "../../../../../test/backends/self-signed.ts";
import { createRemoteSite, type RemoteSite } from "../../../test/remote-site.ts";
import { specialAddresses } from "./special-addresses.ts";

let site: RemoteSite;
beforeEach(async () => {
  site = await createRemoteSite();
});

test("openRemote sends one plain GET that names the host and accepts no encoding", async () => {
  let seen: unknown;
  const server = await site.serve((req, res) => {
    seen = { method: req.method, url: req.url, headers: req.headers };
    res.end("the file");
  });
  site.dns.zone["files.test"] = { A: ["127.0.0.1"] };
  const url = `http://files.test:${server.port}/a%20b.png?size=1#part`;
  expect(String(await site.fetch(url))).toBe("the file");
  expect(seen).toEqual({
    method: "GET",
    url: "/a%20b.png?size=1",
    headers: {
      host: `files.test:${server.port}`,
      "user-agent": "Test/1.0",
      "accept-encoding": "identity",
      connection: "close",
    },
  });
});

describe("openRemote does not connect to", () => {
  test.each([
    "127.0.0.1",
    "2130706433",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.1",
    "127.0.0.1.",
    "0.0.0.0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "169.254.169.254",
  ])("%s", async (host) => {
    const server = await site.serve((_req, res) => res.end("internal"));
    const fetching = site.fetch(`http://${host}:${server.port}/`, { forbidden: specialAddresses() });
    await expect(fetching).rejects.toThrow();
    expect(server.connections()).toBe(0);
  });

  test.each<[string, { A?: string[]; AAAA?: string[] }]>([
    ["an address of this machine", { A: ["127.0.0.1"] }],
    ["a mapped address", { AAAA: ["::ffff:127.0.0.1", "::1"] }],
    ["private addresses", { A: ["10.0.0.1", "192.168.1.1"], AAAA: ["fd00::1"] }],
  ])("a name with %s", async (_what, entry) => {
    const server = await site.serve((_req, res) => res.end("internal"));
    site.dns.zone["inside.test"] = entry;
    const fetching = site.fetch(`http://inside.test:${server.port}/`, { forbidden: specialAddresses() });
    await expect(fetching).rejects.toThrow("the host has no public address");
    expect(server.connections()).toBe(0);
  });
});

test("of several addresses, openRemote connects only to allowed ones", async () => {
  const inside = await site.serve((_req, res) => res.end("internal"), "127.0.0.66");
  site.forbidden.addAddress("127.0.0.66");
  site.dns.zone["both.test"] = { A: ["127.0.0.66", "127.0.0.1"] };
  await expect(site.fetch(`http://both.test:${inside.port}/`)).rejects.toThrow();
  expect(inside.connections()).toBe(0);
});

test("openRemote tries the next address of a host if one refuses the connection", async () => {
  const server = await site.serve((_req, res) => res.end("the file"), "127.0.0.7");
  site.dns.zone["two.test"] = { A: ["127.0.0.6", "127.0.0.7"] };
  expect(String(await site.fetch(`http://two.test:${server.port}/`))).toBe("the file");
});

test("DNS rebinding: openRemote resolves a host once per request and connects to that answer", async () => {
  const inside = await site.serve((_req, res) => res.end("internal"), "127.0.0.66");
  site.forbidden.addAddress("127.0.0.66");
  site.dns.zone["turns.test"] = { A: ["127.0.0.1"], alternateA: ["127.0.0.66"] };
  // Nothing listens at the first answer, so only a second query could lead to the server.
  await expect(site.fetch(`http://turns.test:${inside.port}/`)).rejects.toThrow("ECONNREFUSED");
  expect(site.dns.questions.sort()).toEqual(["A turns.test", "AAAA turns.test"]);
  await expect(site.fetch(`http://turns.test:${inside.port}/`)).rejects.toThrow("no public address");
  expect(inside.connections()).toBe(0);
});

describe("redirects", () => {
  test("openRemote follows five redirects, relative and to another host, and no sixth", async () => {
    const server = await site.serve((req, res) => {
      const left = Number(req.url?.slice(1));
      if (left === 0) return res.end("the file");
      const status = [301, 302, 303, 307, 308][left % 5] ?? 302;
      const next = left % 2 === 0 ? `${left - 1}` : `http://other.test:${server.port}/${left - 1}`;
      return res.writeHead(status, { Location: next }).end("moved");
    });
    site.dns.zone["other.test"] = { A: ["127.0.0.1"] };
    expect(String(await site.fetch(`http://127.0.0.1:${server.port}/5`))).toBe("the file");
    await expect(site.fetch(`http://127.0.0.1:${server.port}/6`)).rejects.toThrow("more than 5 redirects");
  });

  test("openRemote sends the bytes of a redirect in UTF-8 as they came", async () => {
    const server = await site.serve((req, res) => {
      if (req.url !== "/") return res.end(req.url);
      return res.writeHead(302, { Location: Buffer.from("/é.jpg?ü").toString("latin1") }).end();
    });
    expect(String(await site.fetch(`http://127.0.0.1:${server.port}/`))).toBe("/%C3%A9.jpg?%C3%BC");
  });

  test.each([
    ["this machine", "http://127.0.0.66:PORT/", "no public address"],
    ["a mapped address", "http://[::ffff:127.0.0.66]:PORT/", "no public address"],
    ["a decimal address", "//2130706498:PORT/", "no public address"],
    ["the clouds' metadata", "http://169.254.169.254/latest/meta-data/", "no public address"],
    ["another port", "http://127.0.0.1:22/", "one of the ports"],
    ["a file", "file:///etc/passwd", "http or https"],
    ["a data URL", "data:image/png;base64,AA==", "http or https"],
    ["a URL with a password", "http://anna:secret@127.0.0.1:PORT/", "no user name"],
  ])("openRemote checks a redirect to %s like the first URL", async (_what, location, reason) => {
    const inside = await site.serve((_req, res) => res.end("internal"), "127.0.0.66");
    site.forbidden.addAddress("127.0.0.66");
    // Only the server of the redirect.
    const server = await site.serve((_req, res) => {
      res.writeHead(302, { Location: location.replace("PORT", String(inside.port)) }).end();
    });
    const ports = [80, server.port, inside.port];
    const url = `http://127.0.0.1:${server.port}/`;
    await expect(site.fetch(url, { ports })).rejects.toThrow(reason);
    expect(server.requests).toEqual(["GET /"]);
    expect(inside.connections()).toBe(0);
  });
});

describe("a server that", () => {
  test.each<[string, (socket: Socket) => void]>([
    ["closes the connection", (socket) => socket.end()],
    ["does not speak HTTP", (socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n")],
    [
      "sends endless headers",
      (socket) => drip(socket, "HTTP/1.1 200 OK\r\n", "X-A: aaaaaaaa\r\n".repeat(100), 1),
    ],
    ["sends one header without end", (socket) => drip(socket, "HTTP/1.1 200 OK\r\nX: ", "a".repeat(4096), 1)],
    ["drips headers", (socket) => drip(socket, "HTTP/1.1 200 OK\r\n", "X", 50)],
    ["drips its body", (socket) => drip(socket, "HTTP/1.1 200 OK\r\n\r\n", "x", 50)],
    ["drips interim replies", (socket) => drip(socket, "", "HTTP/1.1 103 Early Hints\r\n\r\n", 50)],
    ["says nothing", () => {}],
    [
      "switches protocols",
      (socket) => socket.write("HTTP/1.1 101 Go\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n"),
    ],
    [
      "sends less than it announced",
      (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
    ],
    ["answers 204", (socket) => socket.end("HTTP/1.1 204 No Content\r\n\r\n")],
    ["answers 206", (socket) => socket.end("HTTP/1.1 206 Part\r\nContent-Length: 1\r\n\r\nx")],
    ["answers 404", (socket) => socket.end("HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n")],
    ["redirects without an address", (socket) => socket.end("HTTP/1.1 302 Go\r\nContent-Length: 0\r\n\r\n")],
    ["redirects to nonsense", (socket) => socket.end("HTTP/1.1 302 Go\r\nLocation: http://[\r\n\r\n")],
  ])("%s is given up at the time limit", async (_what, answer) => {
    const closed: Promise<void>[] = [];
    const tcp = createTcpServer((socket) => {
      socket.on("error", () => socket.destroy());
      closed.push(new Promise((resolve) => socket.on("close", () => resolve())));
      socket.once("data", () => answer(socket));
    });
    await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
    const bound = tcp.address();
    const port = typeof bound === "object" && bound !== null ? bound.port : 0;
    await expect(site.fetch(`http://127.0.0.1:${port}/`, { timeoutMs: 600 })).rejects.toThrow();
    await Promise.all(closed);
    tcp.close();
  });

  test("is silent for the idle time is given up", async () => {
    const server = await site.serve((_req, res) => {
      res.write("a start");
    });
    const whole = site.fetch(`http://127.0.0.1:${server.port}/`, { idleMs: 200 });
    await expect(whole).rejects.toThrow("nothing for 200 ms");
  });

  test.each(["gzip", "br", "gzip, gzip"])(
    "compresses with %s is refused before its body",
    async (encoding) => {
      const server = await site.serve((_req, res) => {
        res.writeHead(200, { "Content-Encoding": encoding }).end(gzipSync(Buffer.alloc(1_000_000)));
      });
      await expect(site.fetch(`http://127.0.0.1:${server.port}/`)).rejects.toThrow("Content-Encoding");
    },
  );
});

test("an abort ends a DNS query, a connection and a body at once", async () => {
  site.dns.zone["silent.test"] = { drops: true };
  const server = await site.serve((_req, res) => {
    res.write("a start");
  });
  for (const host of ["silent.test", "127.0.0.1"]) {
    const controller = new AbortController();
    const fetching = site.fetch(`http://${host}:${server.port}/`, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 100);
    await expect(fetching).rejects.toThrow();
  }
});

describe("over TLS", () => {
  let directory: string;
  let ca: Buffer;
  let names: (string | false | undefined)[];
  let port: number;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "outrigger-tls-"));
    const { certificate, key } = await createSelfSigned(directory, "DNS:files.test,IP:127.0.0.1");
    ca = await readFile(certificate);
    names = [];
    const server = createTlsServer({ cert: ca, key: await readFile(key) }, (req, res) => {
      names.push((req.socket as TLSSocket & { servername?: string | false }).servername);
      res.end("the file");
    });
    ({ port } = await site.adopt(server));
    site.dns.zone["files.test"] = { A: ["127.0.0.1"] };
    site.dns.zone["other.test"] = { A: ["127.0.0.1"] };
    return () => rm(directory, { recursive: true });
  });

  test.each(["files.test", "files.test.", "127.0.0.1"])(
    "openRemote sends the name %s and verifies it",
    async (host) => {
      expect(String(await site.fetch(`https://${host}:${port}/`, { ca }))).toBe("the file");
      expect(names).toEqual([host === "127.0.0.1" ? false : "files.test"]);
    },
  );

  test("openRemote refuses a certificate of an unknown authority, and one of another name", async () => {
    await expect(site.fetch(`https://files.test:${port}/`)).rejects.toThrow("self-signed certificate");
    await expect(site.fetch(`https://other.test:${port}/`, { ca })).rejects.toThrow("altnames");
    await expect(site.fetch(`http://files.test:${port}/`)).rejects.toThrow();
    expect(names).toEqual([]);
  });

  test("openRemote refuses it also with NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    try {
      await expect(site.fetch(`https://files.test:${port}/`)).rejects.toThrow("self-signed certificate");
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });
});

/** Sends `start`, then `more` again and again. */
function drip(socket: Socket, start: string, more: string, everyMs: number): void {
  socket.write(start);
  const timer = setInterval(() => socket.write(more), everyMs);
  socket.on("close", () => clearInterval(timer));
}
