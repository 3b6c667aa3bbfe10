import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, expect, test } from "vitest";
import { createFaultyStore, failAt, systemError } from "../../../test/faulty-store.ts";
import { nodeFiles } from "./fs-files.ts";

const root = mkdtempSync(join(tmpdir(), "outrigger-faults-"));
afterAll(() => rmSync(root, { recursive: true }));

const faultyStore = () => createFaultyStore(mkdtempSync(join(root, "store-")));

const OLD = Buffer.from("the old value");
const NEW = Buffer.from("the new value");

test.each(["buffer", "stream", "spooled file"])(
  "a %s whose flush fails is not stored, and is not flushed again",
  async (kind) => {
    const { store, files, temporary } = faultyStore();
    const calls: number[] = [];
    files.sync = async (descriptor) => {
      calls.push(descriptor);
      throw systemError("EIO", "fsync");
    };
    const spooled = join(store.spoolDirectory, "upload");
    const write = async () => {
      if (kind === "buffer") return store.put("ab/x", NEW);
      if (kind === "stream") return store.put("ab/x", Readable.from([NEW]));
      await writeFile(spooled, NEW);
      return store.adopt("ab/x", spooled);
    };
    await expect(write()).rejects.toMatchObject({ code: "store_unavailable", cause: { code: "EIO" } });
    assert.equal(calls.length, 1);
    rmSync(spooled, { force: true });
    assert.equal(await store.get("ab/x"), null);
    assert.deepEqual(temporary(), []);

    files.sync = nodeFiles.sync;
    const { revision } = await store.put("ab/x", OLD);
    files.sync = () => Promise.reject(systemError("ENOSPC", "fsync"));
    await expect(write()).rejects.toMatchObject({ code: "no_space" });
    rmSync(spooled, { force: true });
    assert.equal(store.isCurrent("ab/x", revision), true);
    assert.deepEqual((await store.get("ab/x"))?.body, OLD);
    assert.deepEqual(temporary(), []);

    files.sync = nodeFiles.sync;
    await write();
    assert.deepEqual((await store.get("ab/x"))?.body, NEW);
  },
);

test("a blob that may be lost is stored with one flush, of its bytes, before it gets its name", async () => {
  const { store, files } = faultyStore();
  await store.put("ab/x", OLD, { mayBeLost: true });
  const flushed: (string | null)[] = [];
  const current = async (key: string) => ((await store.get(key))?.body ?? null)?.toString() ?? null;
  files.sync = async (descriptor) => {
    const written = `flushed: ${await readFile(`/proc/self/fd/${descriptor}`, "utf8")}`;
    flushed.push(written, await current("ab/x"), await current("ab/y"));
    await nodeFiles.sync(descriptor);
  };
  files.syncDirectory = async (path) => void flushed.push(path);
  await store.put("ab/x", NEW, { mayBeLost: true });
  await store.put("ab/y", NEW, { mayBeLost: true, ifRevision: null });
  assert.deepEqual(flushed, [`flushed: ${NEW}`, `${OLD}`, null, `flushed: ${NEW}`, `${NEW}`, null]);
  assert.deepEqual([await current("ab/x"), await current("ab/y")], [`${NEW}`, `${NEW}`]);
  files.sync = () => Promise.reject(systemError("EIO", "fsync"));
  await expect(store.put("ab/x", OLD, { mayBeLost: true })).rejects.toMatchObject({
    code: "store_unavailable",
  });
  await expect(store.put("ab/z", OLD, { mayBeLost: true })).rejects.toMatchObject({
    code: "store_unavailable",
  });
  assert.deepEqual([await current("ab/x"), await current("ab/z")], [`${NEW}`, null]);
});

test("a new blob is absent if the flush of any of its directories fails", async () => {
  let failing = 0;
  for (let isDone = false; !isDone; failing++) {
    const { store, files, temporary } = faultyStore();
    files.syncDirectory = failAt(failing);
    const outcome = store.put("ab/c/x", NEW);
    isDone = await outcome.then(
      () => true,
      () => false,
    );
    if (isDone) break;
    await expect(outcome).rejects.toMatchObject({ code: "store_unavailable", cause: { code: "EIO" } });
    assert.equal(await store.get("ab/c/x"), null, `call ${failing}`);
    assert.deepEqual(await store.list(""), { keys: [] });
    assert.deepEqual(temporary(), []);
    await store.put("ab/c/x", NEW, { ifRevision: null });
    assert.deepEqual((await store.get("ab/c/x"))?.body, NEW);
  }
  // The chain's own directory, the three above it, and the last of those again for the chain's name.
  assert.ok(failing >= 4, `${failing}`);
});

test("the old blob stays current if the flush of a replacement's directory fails", async () => {
  const { store, files, temporary } = faultyStore();
  const { revision } = await store.put("ab/x", OLD);
  files.syncDirectory = failAt(0);
  await expect(store.put("ab/x", NEW, { ifRevision: revision })).rejects.toMatchObject({
    code: "store_unavailable",
  });
  assert.equal(store.isCurrent("ab/x", revision), true);
  assert.deepEqual((await store.get("ab/x"))?.body, OLD);
  assert.deepEqual(temporary(), []);
  await store.put("ab/x", NEW, { ifRevision: revision });
  assert.deepEqual((await store.get("ab/x"))?.body, NEW);
});

test("a delete rejects if the flush of its directory fails", async () => {
  const { store, files, temporary } = faultyStore();
  await store.put("ab/x", OLD);
  files.syncDirectory = failAt(0);
  await expect(store.delete("ab/x")).rejects.toMatchObject({ code: "store_unavailable" });
  assert.deepEqual(temporary(), []);
  await store.put("ab/x", NEW);
  assert.equal(await store.delete("ab/x"), true);
});

test("a new blob's bytes and name are flushed before it becomes current, and its directory before it is acknowledged", async () => {
  const { store, files, directory } = faultyStore();
  const log: string[] = [];
  const place = join(directory, "blobs/ab/ab/y@");
  const state = () => (existsSync(place) ? "in place" : "not in place");
  files.sync = async (descriptor) => {
    await nodeFiles.sync(descriptor);
    log.push(`bytes, ${state()}`);
  };
  files.link = async (from, to) => {
    await nodeFiles.link(from, to);
    log.push(`link, ${state()}`);
  };
  files.syncDirectory = async (path) => {
    await nodeFiles.syncDirectory(path);
    log.push(`${/^[0-9a-f]{24}$/.test(basename(path)) ? "new directory" : basename(path)}, ${state()}`);
  };
  await store.put("ab/x", OLD);
  log.splice(0);
  await store.put("ab/y", OLD);
  assert.deepEqual(log.splice(1, 2).sort(), ["bytes, not in place", "new directory, not in place"]);
  assert.deepEqual(log.splice(0), ["link, not in place", "ab, in place"]);
  await store.put("ab/y", NEW);
  assert.deepEqual(log.splice(0), ["bytes, in place", "link, in place", "y@, in place"]);
  await store.delete("ab/y");
  assert.deepEqual(log, ["ab, not in place"]);
});

test("adoptTogether flushes every file and directory once before they get their place, then the place", async () => {
  const { store, files, directory } = faultyStore();
  const log: string[] = [];
  const note = (path: string) => {
    const shown = path
      .replace(store.spoolDirectory, "new")
      .replace(directory, "")
      .replaceAll(/[0-9a-f]{16,}/g, "~");
    log.push(existsSync(join(directory, "blobs/ab/abc")) ? `in place: ${shown}` : shown);
  };
  files.sync = async (descriptor) => {
    await nodeFiles.sync(descriptor);
    note(readlinkSync(`/proc/self/fd/${descriptor}`));
  };
  files.syncDirectory = async (path) => {
    // Only now are all names in the directory.
    const names = readdirSync(path).length;
    await nodeFiles.syncDirectory(path);
    note(path.endsWith("blobs") ? path : `${path} (${names})`);
  };
  const spooled = join(store.spoolDirectory, "upload");
  await writeFile(spooled, OLD);
  await store.adoptTogether("abc/", { one: { path: spooled }, two: NEW });
  assert.equal(log.pop(), "in place: /blobs/ab (1)");
  assert.deepEqual(log.splice(0).sort(), [
    "/blobs",
    "new/~ (2)",
    "new/~/one@ (2)",
    "new/~/one@/~.1",
    "new/~/two@ (2)",
    "new/~/two@/~.1",
  ]);
  await store.adoptTogether("abd/", { one: OLD });
  assert.ok(!log.includes("in place: /blobs"), "a directory that is never deleted was flushed twice");
});

test("nothing of adoptTogether is stored if any of its flushes fails, and it can be repeated", async () => {
  let isDone = false;
  let failing = 0;
  for (; !isDone; failing++) {
    const { store, files, temporary } = faultyStore();
    let calls = 0;
    const failOnce = () => {
      if (calls++ === failing) throw systemError("EIO", "fsync");
    };
    files.sync = async (descriptor) => {
      failOnce();
      await nodeFiles.sync(descriptor);
    };
    files.syncDirectory = async (path) => {
      failOnce();
      await nodeFiles.syncDirectory(path);
    };
    const outcome = await store
      .adoptTogether("abc/", { one: OLD, two: NEW })
      .catch((error: unknown) => error);
    isDone = calls <= failing;
    if (isDone) break;
    expect(outcome).toMatchObject({ code: "store_unavailable", cause: { code: "EIO" } });
    assert.deepEqual(await store.list(""), { keys: [] }, `call ${failing}`);
    assert.deepEqual(temporary(), []);
    const { two } = await store.adoptTogether("abc/", { one: OLD, two: NEW });
    assert.equal(store.isCurrent("abc/two", two.revision), true);
  }
  assert.equal(failing, 7);
});

test("adoptTogether keeps what another writer added before its last flush failed", async () => {
  const { store, files, directory } = faultyStore();
  files.syncDirectory = async (path) => {
    if (!existsSync(join(directory, "blobs/ab/abc"))) return;
    files.syncDirectory = nodeFiles.syncDirectory;
    if (path.endsWith("/ab")) await store.put("abc/two", OLD);
    throw systemError("EIO", "fsync");
  };
  await expect(store.adoptTogether("abc/", { one: OLD, two: NEW })).rejects.toMatchObject({
    code: "store_unavailable",
  });
  assert.deepEqual((await store.get("abc/two"))?.body, OLD);
});

test("a write rejects with a message about hard links on a file system without them", async () => {
  for (const code of ["EPERM", "ENOTSUP"]) {
    const { store, files, temporary } = faultyStore();
    files.link = () => Promise.reject(systemError(code, "link"));
    await expect(store.put("ab/x", NEW)).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("no hard links"),
      cause: { code },
    });
    assert.deepEqual(temporary(), []);
  }
});

test("the old blob stays current after any other failure of a link", async () => {
  const { store, files, temporary } = faultyStore();
  await store.put("ab/x", OLD);
  for (const [code, expected] of [
    ["EIO", "store_unavailable"],
    ["EDQUOT", "no_space"],
    ["EMLINK", "store_unavailable"],
  ] as const) {
    files.link = () => Promise.reject(systemError(code, "link"));
    await expect(store.put("ab/x", NEW)).rejects.toMatchObject({ code: expected, cause: { code } });
    await expect(store.put("ab/new", NEW)).rejects.toMatchObject({ code: expected, cause: { code } });
    assert.deepEqual((await store.get("ab/x"))?.body, OLD);
    assert.equal(await store.stat("ab/new"), null);
    assert.deepEqual(temporary(), []);
  }
});

test.each([
  ["EMFILE", /ulimit -n/],
  ["ENFILE", /fs\.file-max/],
])("a write that fails with too many open files (%s) names the limit to raise", async (code, message) => {
  const { store, files } = faultyStore();
  files.syncDirectory = () => Promise.reject(systemError(code, "open"));
  await expect(store.put("ab/x", NEW)).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringMatching(message),
    cause: { code },
  });
});
