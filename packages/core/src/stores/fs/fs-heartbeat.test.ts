import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createFsBlobStore } from "./fs-blob-store.ts";

const TEN_MINUTES = 600_000;

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "outrigger-life-"));
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

test("an idle process updates its sign of life", async () => {
  const store = createFsBlobStore({ directory });
  const longAgo = new Date("2020-01-01");
  utimesSync(store.spoolDirectory, longAgo, longAgo);
  vi.advanceTimersByTime(TEN_MINUTES);
  expect(statSync(store.spoolDirectory).mtimeMs).toBeGreaterThan(Date.now() - TEN_MINUTES);
  await store.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("a deleted temporary directory is created again by the next write or sign of life", async () => {
  const store = createFsBlobStore({ directory });
  for (const removed of ["tmp", "tmp", store.spoolDirectory]) {
    rmSync(resolve(directory, removed), { recursive: true });
    await store.put("a", Buffer.from("x"));
    expect(statSync(store.spoolDirectory).mode & 0o777).toBe(0o700);
    rmSync(resolve(directory, removed), { recursive: true });
    vi.advanceTimersByTime(TEN_MINUTES);
    expect(readdirSync(join(directory, "tmp"))).toEqual([basename(store.spoolDirectory)]);
    rmSync(resolve(directory, removed), { recursive: true });
    const spooled = join(store.spoolDirectory, "upload");
    writeFileSync(spooled, "y");
    await store.adopt("b", spooled);
    await store.addDue("jobs", { id: "x", dueMs: 1 });
  }
  expect(String((await store.get("b"))?.body)).toBe("y");
  await store.close();
});

test("a put whose temporary file is deleted during its body rejects, and the next put succeeds", async () => {
  const store = createFsBlobStore({ directory });
  async function* body() {
    yield Buffer.from("x");
    rmSync(join(directory, "tmp"), { recursive: true });
    yield Buffer.from("y");
  }
  await expect(store.put("a", Readable.from(body()))).rejects.toMatchObject({ code: "store_unavailable" });
  expect(await store.get("a")).toBeNull();
  await store.put("a", Buffer.from("x"));
  await expect(store.put("a", Readable.from(body()))).rejects.toMatchObject({ code: "store_unavailable" });
  expect(String((await store.get("a"))?.body)).toBe("x");
  await store.close();
});

test.each(["the directory", "its blobs", "its contents"])(
  "a store without %s rejects every call, and no call creates the directory again",
  async (gone) => {
    const store = createFsBlobStore({ directory });
    const { revision } = await store.put("ab/a", Buffer.from("x"));
    await store.addDue("jobs", { id: "x", dueMs: 1 });
    const aside = `${directory}-aside`;
    if (gone === "its blobs") renameSync(join(directory, "blobs"), aside);
    else renameSync(directory, aside);
    if (gone === "its contents") mkdirSync(directory);
    const there = existsSync(directory) ? readdirSync(directory) : null;
    const calls: (() => Promise<unknown>)[] = [
      () => store.get("ab/a"),
      () => store.get("other"),
      () => store.stat("ab/a"),
      () => store.localPath("ab/a"),
      () => store.list(""),
      () => store.list("ab/"),
      () => store.put("ab/a", Buffer.from("y")),
      () => store.put("new/b", Buffer.from("y"), { ifRevision: null }),
      () => store.put("ab/a", Readable.from(["y"]), { ifRevision: revision }),
      () => store.delete("ab/a"),
      () => store.addDue("jobs", { id: "y", dueMs: 1 }),
      () => store.addDue("other", { id: "y", dueMs: 1 }),
      () => store.removeDue("jobs", { id: "x", dueMs: 1 }),
      () => store.listDue("jobs", 1, 1),
      () => store.localSecret(),
      () => store.removeSuperseded(Date.now(), () => true),
    ];
    for (const [index, call] of calls.entries()) {
      await expect(call(), `call ${index}`).rejects.toMatchObject({ code: "store_unavailable" });
      vi.advanceTimersByTime(TEN_MINUTES);
    }
    expect(store.isCurrent("ab/a", revision)).toBe(false);
    expect(store.spoolDirectory).toContain(directory);
    expect(existsSync(directory) ? readdirSync(directory) : null).toEqual(there);
    if (gone === "its contents") rmSync(directory, { recursive: true });
    renameSync(aside, gone === "its blobs" ? join(directory, "blobs") : directory);
    expect(store.isCurrent("ab/a", revision)).toBe(true);
    await store.put("ab/a", Buffer.from("y"), { ifRevision: revision });
    await store.close();
  },
);
