import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, type SqlDatabase } from "@outrigger/sql";
import { afterEachTest } from "../../../test/support/hooks.ts";

const closing: (() => Promise<void>)[] = [];
afterEachTest(async () => {
  for (const close of closing.splice(0)) await close();
});

/** An embedded database, which is deleted after the test. */
export async function newDatabase(): Promise<SqlDatabase> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-crawl-"));
  const database = openDatabase({ url: `file:${join(directory, "lookup.db")}`, timeoutMs: 20_000 });
  closing.push(async () => {
    await database.close();
    await rm(directory, { recursive: true, force: true });
  });
  return database;
}
