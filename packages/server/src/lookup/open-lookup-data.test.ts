import { randomBytes } from "node:crypto";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createFsBlobStore, createLookup, createMemoryBlobStore } from "@outrigger/core";
import { createSqlSuppressionList, openDatabase } from "@outrigger/sql";
import { afterEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/outrigger-process.ts";
import { settingsOf } from "../config/settings.ts";
import { type LookupData, openLookupData } from "./open-lookup-data.ts";
import { requireLookup } from "./require-lookup.ts";
import { seedSamples } from "./samples.ts";

const OLD = "o".repeat(32);
const NEW = "n".repeat(32);
const opened = new Set<LookupData>();

afterEach(async () => {
  for (const data of opened) await data.close();
  opened.clear();
});

async function open(
  path: string,
  secret?: string | string[],
  records = createMemoryBlobStore(),
): Promise<LookupData> {
  const lookup = { database: { kind: "file", path } } as const;
  const data = await openLookupData({ lookup, ...(secret === undefined ? {} : { secret }) }, records);
  opened.add(data);
  return data;
}

function suppress(data: LookupData, subject: string): Promise<void> {
  const { contacts, accounts, suppressionList, secrets } = data;
  return createLookup({ contacts, accounts, suppressions: suppressionList, secret: secrets }).suppress(
    subject,
  );
}

/** A database whose suppression has no marker of its secret. */
async function withUnmarkedEntry(path: string): Promise<void> {
  const database = openDatabase({ url: `file:${path}` });
  await createSqlSuppressionList(database).add([randomBytes(32).toString("base64url")]);
  await database.close();
}

describe("a place without a database of the lookup", () => {
  const configOf = (path: string) => ({
    ...settingsOf({ data: join(path, ".."), secret: OLD }),
    lookup: { database: { kind: "file", path } } as const,
  });

  it.each<[string, (path: string) => Promise<unknown> | undefined, string]>([
    ["a missing file", () => undefined, "There is no lookup database file:"],
    ["an empty file", (path) => writeFile(path, ""), "There is no lookup database file:"],
    ["a link to nothing", (path) => symlink("nothing", path), "There is no lookup database file:"],
    ["a directory", (path) => mkdir(path), "cannot be used: it is a directory"],
  ])("is refused to a command that makes none, if it is %s, and stays as it is", async (_, make, said) => {
    const directory = await temporaryDirectory();
    const path = join(directory, "lookup.db");
    await make(path);
    const before = await readdir(directory);
    expect(() => requireLookup(configOf(path), false)).toThrow(said);
    expect(await readdir(directory)).toEqual(before);
  });

  it("is refused if a part of its path is a file", async () => {
    const path = join(await temporaryDirectory(), "file");
    await writeFile(path, "");
    expect(() => requireLookup(configOf(join(path, "lookup.db")), true)).toThrow(
      "cannot be used: a part of its path is not a directory",
    );
  });

  it("is refused if another program's tables are there, which stay alone", async () => {
    const path = join(await temporaryDirectory(), "lookup.db");
    const Libsql = createRequire(new URL("../../../sql/package.json", import.meta.url))("libsql");
    const other = new Libsql(path);
    other.exec("CREATE TABLE notes (text text)");
    const lookup = { database: { kind: "file", path } } as const;
    const opening = openLookupData({ lookup, secret: OLD }, createMemoryBlobStore(), false);
    await expect(opening).rejects.toThrow("There is no lookup database file:");
    expect(other.prepare("SELECT name FROM sqlite_master").all([])).toEqual([{ name: "notes" }]);
    other.close();
  });
});

describe("the secret of the lookup's database", () => {
  it("is found at any position in a list of secrets", async () => {
    const path = join(await temporaryDirectory(), "below", "lookup.db");
    await suppress(await open(path, OLD), "ada@example.com");
    const rotated = await open(path, [NEW, OLD]);
    const asked = ["ada@example.com", "bob@example.com"];
    expect(await rotated.suppressions.among(asked)).toEqual(new Set(["ada@example.com"]));
  });

  it("keeps the sample key of a demonstration after a rotation", async () => {
    const path = join(await temporaryDirectory(), "lookup.db");
    const key = await seedSamples(await open(path, OLD));
    expect(key).toMatch(/^[0-9a-f]{40}$/);
    expect(await seedSamples(await open(path, [NEW, OLD]))).toBe(key);
  });

  it("must stay in the list: without it the server refuses to start and suppressed people stay hidden", async () => {
    const path = join(await temporaryDirectory(), "lookup.db");
    await open(path, OLD);
    await expect(open(path, NEW)).rejects.toThrow(
      `The suppressions in the lookup's database file:${path} were made with another secret`,
    );
  });

  it("must be configured if no store keeps one", async () => {
    const path = join(await temporaryDirectory(), "lookup.db");
    await expect(open(path)).rejects.toThrow("lookup.secret: must be set for the lookup's suppressions");
  });

  it("rejects suppressions without a marker", async () => {
    const path = join(await temporaryDirectory(), "lookup.db");
    await withUnmarkedEntry(path);
    await expect(open(path, OLD)).rejects.toThrow(
      "Set lookup.secret to the earlier secret, or to a list of both",
    );
  });

  it("rejects suppressions without a marker if the data directory created it, and names the setting", async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, "lookup.db");
    await withUnmarkedEntry(path);
    const records = createFsBlobStore({ directory: join(directory, "data") });
    await expect(open(path, undefined, records)).rejects.toThrow(
      "is not configured. Set lookup.secret or OUTRIGGER_SECRET to the secret of the app",
    );
    await records.close();
  });
});
