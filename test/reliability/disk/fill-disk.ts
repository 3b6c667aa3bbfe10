import { createWriteStream } from "node:fs";
import { mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect } from "vitest";

/** Occupies some bytes, released later. */
export function takeBytes(disk: string): Promise<void> {
  return writeFile(join(disk, "reserve"), Buffer.alloc(128 * 1024));
}

/** Occupies all remaining bytes. */
export async function takeAllBytes(disk: string): Promise<void> {
  const zeros = Readable.from(endless(Buffer.alloc(4096)));
  await expect(pipeline(zeros, createWriteStream(join(disk, "rest")))).rejects.toMatchObject({
    code: "ENOSPC",
  });
  expect((await statfs(disk)).bavail).toBe(0);
}

function* endless(chunk: Buffer): Generator<Buffer> {
  for (;;) yield chunk;
}

/** Occupies some inodes, released later. */
export async function takeInodes(disk: string, name = "reserve", count = 30): Promise<void> {
  await mkdir(join(disk, name));
  for (let number = 1; number < count; number++) await writeFile(join(disk, name, `${number}`), "");
}

/** Occupies all remaining inodes, and leaves bytes free. */
export async function takeAllInodes(disk: string): Promise<void> {
  await expect(takeInodes(disk, "rest", Number.POSITIVE_INFINITY)).rejects.toMatchObject({ code: "ENOSPC" });
  const { ffree, bavail } = await statfs(disk);
  expect(ffree).toBe(0);
  expect(bavail).toBeGreaterThan(1000);
}

/** Releases everything occupied. */
export async function giveBack(disk: string): Promise<void> {
  for (const name of ["reserve", "rest"]) await rm(join(disk, name), { recursive: true, force: true });
}
