import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openDatabase } from "./sql-database.ts";

const directories = new Set<string>();
const umask = process.umask(0o022);

afterEach(async () => {
  for (const directory of directories) await rm(directory, { recursive: true });
  directories.clear();
  process.umask(umask);
});

async function newDirectory(): Promise<string> {
  process.umask(0o022);
  const directory = await mkdtemp(join(tmpdir(), "outrigger-modes-"));
  directories.add(directory);
  return directory;
}

async function modesIn(directory: string): Promise<Record<string, number>> {
  const names = await readdir(directory);
  const modes = names.map(async (name) => [name, (await stat(join(directory, name))).mode & 0o777]);
  return Object.fromEntries(await Promise.all(modes));
}

test("a new database and the files beside it are readable by this user only", async () => {
  const directory = await newDirectory();
  const path = join(directory, "lookup.db");
  const database = openDatabase({ url: `file:${path}` });
  await database.ready();
  const modes = await modesIn(directory);
  expect(Object.keys(modes)).toEqual(expect.arrayContaining(["lookup.db", "lookup.db-wal"]));
  expect(new Set(Object.values(modes))).toEqual(new Set([0o600]));
  await database.close();
});

test("the mode of an existing database stays as its owner set it", async () => {
  const directory = await newDirectory();
  const url = `file:${join(directory, "lookup.db")}`;
  const first = openDatabase({ url });
  await first.ready();
  await first.close();
  await chmod(join(directory, "lookup.db"), 0o640);
  const again = openDatabase({ url });
  await again.ready();
  expect((await modesIn(directory))["lookup.db"]).toBe(0o640);
  await again.close();
});

test("isMade tells a database from an empty one, and makes no tables", async () => {
  const url = `file:${join(await newDirectory(), "lookup.db")}`;
  const database = openDatabase({ url });
  expect([await database.isMade(), await database.isMade()]).toEqual([false, false]);
  await database.ready();
  expect(await database.isMade()).toBe(true);
  await database.close();
});
