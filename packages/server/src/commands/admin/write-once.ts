import { randomBytes } from "node:crypto";
import { link, open, readFile, rm } from "node:fs/promises";
import { systemCode } from "@outrigger/core";

/** Makes a file for this user alone, all of it or nothing. One that is there with the same content stays. */
export async function writeOnce(path: string, bytes: Buffer): Promise<void> {
  const made = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const file = await open(made, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(made, path);
  } catch (error) {
    const isThere = systemCode(error) === "EEXIST";
    if (!isThere || !(await readFile(path)).equals(bytes)) throw error;
  } finally {
    await rm(made, { force: true });
  }
}
