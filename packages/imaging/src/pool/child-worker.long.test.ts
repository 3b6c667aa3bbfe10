import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RenderSource } from "@outrigger/core/images";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { workersOf } from "../../test/child-processes.ts";
import { closePools, poolOf } from "../../test/task-pool.ts";

const MiB = 1024 ** 2;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "child-worker-"));
});
afterAll(() => rm(directory, { recursive: true }));
afterEach(closePools);

const answer = { do: "answer" };
/** The frame of a message without bytes, as characters. */
const frameOf = (message: unknown, byteLength = 0): string => {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(text.length, 0);
  head.writeUInt32BE(byteLength, 4);
  return Buffer.concat([head, text]).toString("latin1");
};

test("a worker receives the bytes of a source: bytes, a file, and a file from a byte on", async () => {
  const pool = poolOf();
  const path = join(directory, "source");
  await writeFile(path, "0123456789");
  const sources: RenderSource[] = [
    { bytes: Buffer.from("abc") },
    { path },
    { path, start: 7 },
    { path, start: 99 },
  ];
  const received: string[] = [];
  for (const source of sources) received.push((await pool.run(answer, {}, source)).received);
  expect(received).toEqual(["abc", "0123456789", "789", ""]);
});

test("a file of many chunks arrives whole, at several workers at once", async () => {
  const pool = poolOf({ workers: 2 });
  const path = join(directory, "large");
  const bytes = Buffer.alloc(9 * MiB, "0123456789abcdefghij");
  await writeFile(path, bytes);
  const digests = await Promise.all(
    Array.from({ length: 4 }, async () => (await pool.run({ do: "digest" }, {}, { path })).value),
  );
  const { createHash } = await import("node:crypto");
  expect(new Set(digests)).toEqual(new Set([createHash("sha256").update(bytes).digest("hex")]));
});

test("a source that cannot be read rejects with store_unavailable and keeps the worker", async () => {
  const pool = poolOf();
  const { worker } = await pool.run(answer);
  for (const path of [join(directory, "missing"), directory]) {
    await expect(pool.run(answer, {}, { path })).rejects.toMatchObject({ code: "store_unavailable" });
  }
  expect((await pool.run(answer, {}, { bytes: Buffer.from("next") })).received).toBe("next");
  expect(worker).toBeDefined();
});

test("a file that becomes shorter while it is sent rejects with store_unavailable, and no later task gets its bytes", async () => {
  const pool = poolOf();
  await pool.run(answer);
  const path = join(directory, "shrinking");
  await writeFile(path, Buffer.alloc(64 * MiB, "x"));
  const running = pool.run(answer, {}, { path });
  const refused = expect(running).rejects.toMatchObject({ code: "store_unavailable" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  await truncate(path, 10);
  await refused;
  expect((await pool.run(answer, {}, { bytes: Buffer.from("next") })).received).toBe("next");
});

test("bytes that come with a reply arrive", async () => {
  expect((await poolOf().run({ do: "answer", attach: "bytes" })).attached).toBe("bytes");
});

test.each([
  ["text that is not JSON", "\0\0\0\x05\0\0\0\0hello"],
  ["a message above the limit", "\xff\xff\xff\xff\0\0\0\0"],
  [
    "more bytes than a worker may hold",
    frameOf({ kind: "done", result: {}, cpuMs: 1, residentBytes: 1 }, 2 ** 32 - 1),
  ],
  ["an unknown kind", frameOf({ kind: "surprise" })],
  [
    "a code of the host",
    frameOf({ kind: "failed", code: "forbidden", message: "", detail: "", cpuMs: 0, residentBytes: 0 }),
  ],
  ["a cost that is no number", frameOf({ kind: "done", result: {}, cpuMs: "1", residentBytes: 1 })],
  ["no object", frameOf(null)],
])("a worker that sends %s is killed, and its task rejects with unsupported_media", async (_, raw) => {
  const pool = poolOf();
  const { worker } = await pool.run(answer);
  await expect(pool.run({ do: "send", raw })).rejects.toMatchObject({ code: "unsupported_media" });
  expect((await pool.run(answer)).worker).not.toBe(worker);
});

test("a worker whose reply is invalid is killed, and its task rejects with unsupported_media", async () => {
  const pool = poolOf();
  const { worker } = await pool.run(answer);
  await expect(pool.run({ do: "answer", value: { invalid: true } })).rejects.toMatchObject({
    code: "unsupported_media",
  });
  expect((await pool.run(answer)).worker).not.toBe(worker);
});

test("a worker that sends bytes between tasks is killed", async () => {
  const pool = poolOf();
  const raw = frameOf({ kind: "done", result: {}, cpuMs: 0, residentBytes: 0 }, 9);
  const { worker } = await pool.run({ do: "answer", thenSend: raw });
  await expect.poll(async () => (await pool.run(answer).catch(() => ({ worker }))).worker).not.toBe(worker);
});

test.each([
  { do: "raise", signal: "SIGSEGV" },
  { do: "raise", signal: "SIGABRT" },
  { do: "exit", code: 3 },
])("a crash ($do $signal$code) fails only its own task", async (crash) => {
  const pool = poolOf();
  const { worker } = await pool.run({ do: "answer" });
  const [crashed, next] = await Promise.allSettled([pool.run(crash), pool.run({ do: "answer" })]);
  expect(crashed).toMatchObject({ status: "rejected", reason: { code: "unsupported_media" } });
  expect(next).toMatchObject({ status: "fulfilled" });
  expect(next).not.toHaveProperty("value.worker", worker);
});

test("a worker killed from outside rejects with overloaded, not unsupported_media", async () => {
  const pool = poolOf();
  const { worker } = await pool.run({ do: "answer" });
  const running = pool.run({ do: "hang" });
  const [pid = 0] = workersOf(process.pid);
  process.kill(pid, "SIGKILL");
  await expect(running).rejects.toMatchObject({ code: "overloaded", retryAfterMs: 1000 });
  expect((await pool.run({ do: "answer" })).worker).not.toBe(worker);
});

test("every call rejects with not_implemented when workers cannot load their libraries, and only its cause says why", async () => {
  const pool = poolOf({ entry: new URL("../../test/unusable-worker.mjs", import.meta.url) });
  for (const outcome of await Promise.allSettled([pool.run({}), pool.run({})])) {
    expect(outcome).toMatchObject({
      status: "rejected",
      reason: {
        code: "not_implemented",
        message: "No working renderer is installed on this server.",
        cause: { message: "The renderer cannot load its libraries: a library is missing" },
      },
    });
  }
});

test("a worker that exits before it is ready rejects with overloaded", async () => {
  const pool = poolOf({ entry: new URL("../../test/no-such-file.mjs", import.meta.url) });
  await expect(pool.run({})).rejects.toMatchObject({ code: "overloaded", retryAfterMs: 5000 });
});
