import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSelfSigned } from "../../../test/backends/self-signed.ts";
import { freePort } from "../../../test/support/listen.ts";
import { type RedisServer, startRedis } from "../../../test/support/redis-server.ts";
import { createRedisBlobStore } from "./blobs/redis-blob-store.ts";

let server: RedisServer;
let tlsPort: number;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-messages-"));
  const { certificate, key } = await createSelfSigned(directory);
  tlsPort = await freePort();
  const tls = ["--tls-port", String(tlsPort), "--tls-cert-file", certificate, "--tls-key-file", key];
  server = await startRedis({
    args: [...tls, "--tls-ca-cert-file", certificate, "--tls-auth-clients", "no", "--requirepass", "s@fe"],
    password: "s@fe",
  });
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

/** The message of the rejection of a write to a store on this URL. */
async function messageOf(url: string | string[], bytes = 10): Promise<string> {
  const store = createRedisBlobStore({ url, timeoutMs: 2000, tls: { rejectUnauthorized: false } });
  try {
    return await store.put("a", randomBytes(bytes)).then(
      () => "stored",
      (error) => error.message,
    );
  } finally {
    await store.close();
  }
}

test.each([
  ["a short command", 10],
  ["a command of more than ten arguments or 16 KiB", 60_000],
])(
  "%s without a password to a Redis that needs one rejects with a message about the password",
  async (_, bytes) => {
    expect(await messageOf(server.url, bytes)).toBe(
      "The Redis server asks for a password, and the address has none.",
    );
  },
);

test("rediss:// to a port without TLS, and redis:// to one with TLS, name the scheme that works", async () => {
  const plain = `127.0.0.1:${server.port}`;
  const secure = `127.0.0.1:${tlsPort}`;
  const needsNone = `The server at ${plain} speaks no TLS: the URL must begin with redis://, not rediss://.`;
  const needsTls = `The server at ${secure} speaks TLS: the URL must begin with rediss://, not redis://.`;
  expect(await messageOf(`rediss://:s%40fe@${plain}`)).toBe(needsNone);
  expect(await messageOf(`redis://:s%40fe@${secure}`)).toBe(needsTls);
  expect(await messageOf([`rediss://:s%40fe@${plain}`])).toBe(needsNone);
  expect(await messageOf([`redis://:s%40fe@${secure}`])).toBe(needsTls);
  expect(await messageOf(`rediss://:s%40fe@${secure}`)).toBe("stored");
  expect(await messageOf(`redis://:s%40fe@${plain}`)).toBe("stored");
});

test("a server that hangs after a successful call is reported as silent, not as a server with another transport", async () => {
  const store = createRedisBlobStore({ url: `redis://:s%40fe@127.0.0.1:${server.port}`, timeoutMs: 500 });
  await store.put("a", Buffer.from("1"));
  server.signal("SIGSTOP");
  await expect(store.put("a", Buffer.from("2"))).rejects.toThrow("The Redis server does not answer.");
  server.signal("SIGCONT");
  await store.close();
});
