import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";

/** Makes a database file and its directory where there are none, for this user alone: it is about people. */
export async function makeDatabaseFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // An empty file is an empty database, and what the database writes beside it has its mode.
  const file = await open(path, "a", 0o600);
  await file.close();
}
