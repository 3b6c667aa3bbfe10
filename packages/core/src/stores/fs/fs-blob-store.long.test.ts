import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { blobStoreContract } from "@outrigger/testing";
import { afterAll, expect, test, vi } from "vitest";
import { createFsBlobStore } from "./fs-blob-store.ts";

const root = mkdtempSync(join(tmpdir(), "outrigger-fs-"));
afterAll(() => rmSync(root, { recursive: true }));

const newDirectory = () => mkdtempSync(join(root, "store-"));

blobStoreContract(test, async () => createFsBlobStore({ directory: newDirectory() }), {
  abilities: ["local", "joint adoption", "probe", "due index", "bulk removal"],
});

test("a revision is current until another store replaces or deletes the blob, however old the blob is", async () => {
  const directory = newDirectory();
  const [one, other] = [createFsBlobStore({ directory }), createFsBlobStore({ directory })];
  const isCurrent = (revision: string) => one.isCurrent("ab/n", revision);
  const changes = [
    () => other.put("ab/n", Buffer.from("next")),
    () => other.delete("ab/n"),
    async () => {
      await other.delete("ab/n");
      await other.put("ab/n", Buffer.from("new"));
    },
    async () => renameSync(join(directory, "blobs/ab"), join(directory, "blobs/aside")),
  ];
  for (const laterMs of [0, 60_000]) {
    for (const change of changes) {
      const { revision } = await one.put("ab/n", Buffer.from("first"));
      // File systems count time in steps.
      if (laterMs > 0) await delay(20);
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + laterMs });
      try {
        assert.deepEqual([isCurrent(revision), isCurrent(revision)], [true, true]);
        await change();
        assert.equal(isCurrent(revision), false);
      } finally {
        vi.useRealTimers();
      }
    }
    renameSync(join(directory, "blobs/aside"), join(directory, "blobs/ab"));
    const { revision = "" } = (await other.stat("ab/n")) ?? {};
    assert.equal(isCurrent(revision), true);
  }
});

test("deleting a key leaves no file, and no directory below the first level", async () => {
  const directory = newDirectory();
  const store = createFsBlobStore({ directory });
  for (const key of ["ab12/a/b/c", "ab12/a/d", "ab12/a", "zz"]) {
    for (let turn = 0; turn < 3; turn++) await store.put(key, randomBytes(100));
  }
  await store.delete("ab12/a/b/c");
  assert.deepEqual((await readdir(join(directory, "blobs/ab/ab12/a"))).sort(), ["d@"]);
  for (const key of ["ab12/a/d", "ab12/a", "zz"]) await store.delete(key);
  assert.deepEqual(filesBelow(join(directory, "blobs")), []);
  assert.deepEqual(filesBelow(store.spoolDirectory), []);
  assert.deepEqual((await readdir(join(directory, "blobs"))).sort(), ["ab", "zz"]);
  assert.deepEqual(await readdir(join(directory, "blobs/ab")), []);
});

test("adoptTogether creates a top directory that vanished, but not in a data directory that is gone", async () => {
  const directory = newDirectory();
  const store = createFsBlobStore({ directory });
  await store.adoptTogether("abc/", { one: Buffer.from("old") });
  rmSync(join(directory, "blobs/ab"), { recursive: true });
  await store.adoptTogether("abc/", { one: Buffer.from("new") });
  assert.deepEqual((await store.get("abc/one"))?.body, Buffer.from("new"));
  rmSync(join(directory, "blobs"), { recursive: true });
  await expect(store.adoptTogether("abd/", { one: Buffer.from("new") })).rejects.toMatchObject({
    code: "store_unavailable",
  });
  assert.equal(existsSync(join(directory, "blobs")), false);
  assert.deepEqual(await readdir(store.spoolDirectory), []);
});

test("only the owner can read the stored files", async () => {
  const directory = newDirectory();
  const store = createFsBlobStore({ directory });
  await store.put("ab/x", Buffer.from("x"));
  const spooled = join(store.spoolDirectory, "upload");
  await writeFile(spooled, "y", { mode: 0o644 });
  await store.adopt("ab/y", spooled);
  for (const key of ["ab/x", "ab/y"]) {
    assert.equal((await stat((await store.localPath(key)) ?? "")).mode & 0o777, 0o600);
  }
  assert.equal((await stat(join(directory, "blobs"))).mode & 0o777, 0o700);
  assert.equal((await stat(store.spoolDirectory)).mode & 0o777, 0o700);
  await store.localSecret();
  assert.equal((await stat(join(directory, "secret"))).mode & 0o777, 0o600);
  await store.addDue("jobs", { id: "x-_", dueMs: 1_700_000_000_000 });
  for (const [path, mode] of [
    ["due/jobs/0a4da", 0o700],
    ["due/jobs/0a4da/0loyw3v28.x-_", 0o400],
  ] as const)
    assert.equal((await stat(join(directory, path))).mode & 0o777, mode);
});

test("a secret that is truncated or readable by others is rejected, and the message says how to fix it", async () => {
  const directory = newDirectory();
  const store = createFsBlobStore({ directory });
  const secret = await store.localSecret();
  await chmod(join(directory, "secret"), 0o644);
  await expect(store.localSecret()).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringMatching(/secret.*chmod 600/),
  });
  await chmod(join(directory, "secret"), 0o600);
  assert.ok((await store.localSecret()).equals(secret));
  await writeFile(join(directory, "secret"), secret.subarray(0, 31));
  await expect(store.localSecret()).rejects.toMatchObject({ code: "store_unavailable" });
});

test("symbolic links planted among the blobs do not lead outside the directory", async () => {
  const directory = newDirectory();
  const outside = newDirectory();
  writeFileSync(join(outside, "treasure"), "gold");
  const store = createFsBlobStore({ directory });
  await store.put("ab/x", Buffer.from("x"));
  const path = (await store.localPath("ab/x")) ?? "";
  rmSync(path);
  symlinkSync(join(outside, "treasure"), path);
  await expect(store.get("ab/x")).rejects.toMatchObject({ code: "store_unavailable" });

  symlinkSync(outside, join(directory, "blobs/ab/ab/out"));
  symlinkSync(outside, join(directory, "blobs/ab/ab/chain@"));
  assert.deepEqual(await store.list(""), { keys: ["ab/x"] });

  await mkdir(join(directory, "blobs/ab/ab/y@"));
  symlinkSync(join(outside, "treasure"), join(directory, "blobs/ab/ab/y@/life"));
  assert.equal(await store.get("ab/y"), null);

  assert.equal(await store.delete("ab/x"), true);
  assert.equal(await readFile(join(outside, "treasure"), "utf8"), "gold");
  const planted = join(store.spoolDirectory, "planted");
  symlinkSync(join(outside, "treasure"), planted);
  await expect(store.adopt("ab/z", planted)).rejects.toMatchObject({ code: "store_unavailable" });
});

test("every descriptor is closed, however a read ends", async () => {
  const directory = newDirectory();
  const store = createFsBlobStore({ directory });
  await store.put("small", randomBytes(20_000));
  await store.put("large", randomBytes(3_000_000));
  const aborted = AbortSignal.abort();
  for (let turn = 0; turn < 40; turn++) {
    const bodies = await Promise.all(
      ["small", "large", "large", "large"].map(async (key) => (await store.get(key))?.body),
    );
    for (const [index, body] of bodies.entries()) {
      if (!(body instanceof Readable)) continue;
      const closed = new Promise((resolve) => body.once("close", resolve));
      if (index === 1) for await (const _ of body);
      else if (index === 2) for await (const _ of body) break;
      else body.destroy();
      await closed;
    }
    await store.get("large", { range: { start: 5, end: 10 } });
    await expect(store.get("large", { range: { start: 9e6, end: 9e6 } })).rejects.toMatchObject({
      code: "bad_request",
    });
    await store.get("small", { signal: aborted }).catch((error) => assert.equal(error, aborted.reason));
    await store.put("small", randomBytes(20_000));
  }
  assert.deepEqual(openFilesIn(directory), []);
});

test("creating a store rejects a path that cannot become a directory", () => {
  const file = join(newDirectory(), "file");
  writeFileSync(file, "");
  expect(() => createFsBlobStore({ directory: file })).toThrow(
    expect.objectContaining({ code: "store_unavailable" }),
  );
  expect(() => createFsBlobStore({ directory: "" })).toThrow(TypeError);
});

function filesBelow(directory: string): string[] {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}

/** The files below a directory that this process has open. */
function openFilesIn(directory: string): string[] {
  const targets = readdirSync("/proc/self/fd").map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return ""; // The descriptor that read this list is closed by now.
    }
  });
  return targets.filter((target) => target.startsWith(directory));
}
