import { mkdtempSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

test("a process with nothing to do shows others that it is alive", async () => {
  const store = createFsBlobStore({ directory });
  const longAgo = new Date("2020-01-01");
  utimesSync(store.spoolDirectory, longAgo, longAgo);
  vi.advanceTimersByTime(TEN_MINUTES);
  expect(statSync(store.spoolDirectory).mtimeMs).toBeGreaterThan(Date.now() - TEN_MINUTES);
  await store.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("a process that was taken for dead while it slept can write again", async () => {
  const store = createFsBlobStore({ directory });
  rmSync(store.spoolDirectory, { recursive: true });
  await expect(store.put("a", Buffer.from("x"))).rejects.toMatchObject({ code: "store_unavailable" });
  vi.advanceTimersByTime(TEN_MINUTES);
  await store.put("a", Buffer.from("x"));
  expect(statSync(store.spoolDirectory).mode & 0o777).toBe(0o700);
  await store.close();
});
