import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { withoutAccess } from "../../../test/without-access.ts";
import type { KeyPage, ListOptions } from "../../contracts/blob-store.ts";
import { listAll } from "../list-all.ts";
import { createFsBlobStore, type FsBlobStore } from "./fs-blob-store.ts";

const KEYS = ["aa1/record", "aa2/record", "aa3/a/b", "aa3/c", "bb/record", "cc/record", "dd/record"];
const created: string[] = [];
afterAll(() => {
  for (const directory of created) rmSync(directory, { recursive: true });
});

let directory: string;
let store: FsBlobStore;
const at = (...path: string[]) => join(directory, "blobs", ...path);

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "outrigger-unreadable-"));
  created.push(directory);
  store = createFsBlobStore({ directory });
  for (const key of KEYS) await store.put(key, Buffer.from("x"));
});

/** The keys of all pages, and the directories that were named. */
async function walked(list: (options: ListOptions) => Promise<KeyPage>, limit: number) {
  const named = new Set<string>();
  const keys: string[] = [];
  for (let options: ListOptions | null = {}; options !== null; ) {
    const page: KeyPage = await list({ limit, ...options, onUnreadable: (path) => named.add(path) });
    keys.push(...page.keys);
    options = page.cursor === undefined ? null : { cursor: page.cursor };
  }
  return { keys, named: [...named].sort() };
}

async function readUntilFailure(keys: AsyncGenerator<string>) {
  const read: string[] = [];
  try {
    for await (const key of keys) read.push(key);
  } catch (error) {
    return { read, error };
  }
  return { read, error: null };
}

test.each([1, 2, 1000])("pages of %d keys go on past a shard and a directory of keys", async (limit) => {
  const paths = [at("aa", "aa2"), at("aa", "aa3", "a"), at("bb")];
  const kept = ["aa1/record", "aa3/c", "cc/record", "dd/record"];
  await withoutAccess(directory, paths, async () => {
    const all = await walked((options) => store.list("", options), limit);
    expect(all).toEqual({ keys: kept, named: paths });
    const below = await walked((options) => store.list("aa3/", options), limit);
    expect(below).toEqual({ keys: ["aa3/c"], named: [at("aa", "aa3", "a")] });
  });
});

test("without onUnreadable every listing rejects, also one that asks for a single key", async () => {
  const refused = { code: "store_unavailable", cause: { code: "EACCES", path: at("bb") } };
  await withoutAccess(directory, [at("bb")], async () => {
    await expect(store.list("")).rejects.toMatchObject(refused);
    await expect(store.list("bb/", { limit: 1 })).rejects.toMatchObject({ cause: { code: "EACCES" } });
  });
});

test("a key whose own directory may not be read is listed, and a read of it rejects", async () => {
  await withoutAccess(directory, [at("bb", "bb", "record@")], async () => {
    expect((await store.list("")).keys).toEqual(KEYS);
    for (const read of [store.get("bb/record"), store.stat("bb/record")]) {
      await expect(read).rejects.toMatchObject({ code: "store_unavailable", cause: { code: "EACCES" } });
    }
  });
});

test("a store whose directory of blobs may not be read is not taken for empty", async () => {
  await withoutAccess(directory, [at()], async () => {
    expect(await walked((options) => store.list("", options), 10)).toEqual({ keys: [], named: [at()] });
    expect(await readUntilFailure(listAll(store, ""))).toMatchObject({
      read: [],
      error: { code: "store_unavailable" },
    });
  });
});

test("listAll names three of several directories with the remedy, and counts the others", async () => {
  const paths = [at("aa", "aa1"), at("aa", "aa2"), at("bb"), at("cc"), at("dd")];
  await withoutAccess(directory, paths, async () => {
    const { read, error } = await readUntilFailure(listAll(store, ""));
    expect(read).toEqual(["aa3/a/b", "aa3/c"]);
    const { message } = error as Error;
    const uid = process.geteuid?.();
    for (const path of paths.slice(0, 3)) {
      expect(message).toContain(`no access to ${path}; as root, chown -R ${uid} ${path} gives it`);
    }
    expect(message).not.toContain(at("cc"));
    expect(message).toMatch(/; and 2 more directories$/);
  });
});
