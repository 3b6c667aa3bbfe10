import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabase, type SqlDatabase } from "../sql-database.ts";
import { createSqlSuppressionList } from "../sql-suppression-list.ts";
import { checkDatabaseFile, copyDatabaseFile, exportSuppressions, isEmptyDatabase } from "./copy-database.ts";

let directory: string;
let path: string;
let database: SqlDatabase;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-copy-"));
  path = join(directory, "lookup.db");
  database = openDatabase({ url: `file:${path}` });
  await database.ready();
});

afterEach(async () => {
  await database.close();
  await rm(directory, { recursive: true, force: true });
});

function tokenOf(index: number): string {
  return String(index).padStart(43, "t");
}

async function tokensIn(of: SqlDatabase): Promise<string[]> {
  const tokens: string[] = [];
  for await (const some of exportSuppressions(of)) tokens.push(...some);
  return tokens;
}

describe("copyDatabaseFile", () => {
  test("copies the committed data while others write, and yields identical bytes for an unchanged database", async () => {
    const list = createSqlSuppressionList(database);
    for (let index = 0; index < 20; index++) await list.add([tokenOf(index)]);
    const [one, other] = [join(directory, "one.db"), join(directory, "other.db")];
    const writing = Promise.all(Array.from({ length: 20 }, (_, index) => list.add([tokenOf(100 + index)])));
    copyDatabaseFile(path, one);
    await writing;
    const copied = openDatabase({ url: `file:${one}` });
    expect((await tokensIn(copied)).length).toBeGreaterThanOrEqual(20);
    await copied.close();
    copyDatabaseFile(path, other);
    copyDatabaseFile(path, join(directory, "third.db"));
    expect((await readFile(join(directory, "third.db"))).equals(await readFile(other))).toBe(true);
  });

  test("throws for a missing file, and checkDatabaseFile throws for a file that is damaged or not a database", async () => {
    expect(() => copyDatabaseFile(join(directory, "nowhere.db"), join(directory, "x.db"))).toThrow(
      expect.objectContaining({ code: "store_unavailable" }),
    );
    const none = join(directory, "none.db");
    await writeFile(none, "no database at all, but long enough to have a header".repeat(20));
    expect(() => checkDatabaseFile(none)).toThrow(expect.objectContaining({ code: "damaged" }));
    const copy = join(directory, "copy.db");
    copyDatabaseFile(path, copy);
    const bytes = await readFile(copy);
    await writeFile(copy, bytes.fill(7, 4096, 12_000));
    expect(() => checkDatabaseFile(copy)).toThrow(expect.objectContaining({ code: "damaged" }));
  });
});

test("isEmptyDatabase is true until there is a contact, account or suppression", async () => {
  expect(await isEmptyDatabase(database)).toBe(true);
  await createSqlSuppressionList(database).add([tokenOf(1)]);
  expect(await isEmptyDatabase(database)).toBe(false);
});
