import { constants, copyFileSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { programs, run } from "../../support/programs.ts";
import type { Mounts } from "./mounts.ts";

export type FileSystemType = "ext4" | "xfs";

/** A file system on a disk whose state after a power cut can be examined. */
export interface CrashDisk {
  /** The root of the file system. */
  directory: string;
  /** Copies the disk as a power cut would leave it: with flushed writes, without those still in memory. */
  cutPower(): void;
  /** Mounts that copy over the disk. All processes using the disk must have ended before. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

const DISK_BYTES = 512 * 1024 ** 2;
/** Room for the disk and its copy; they share unchanged blocks. */
const STAND_BYTES = 2 * 1024 ** 3;
const MAKE: Record<FileSystemType, { program: string; args: string[]; options: string }> = {
  // The journal is written on a flush, not every five seconds.
  ext4: { program: programs.mkfsExt4, args: ["-q", "-F"], options: "loop,commit=300" },
  xfs: { program: programs.mkfsXfs, args: ["-q", "-f"], options: "loop" },
};

/** A directory where files of any length are copied instantly (reflinks). */
export async function mountStand(mounts: Mounts): Promise<string> {
  const file = join(mounts.directory, "stand.img");
  await makeFile(file, STAND_BYTES);
  await makeFileSystem(programs.mkfsXfs, ["-q", "-f", "-m", "reflink=1", file]);
  return mounts.mount("stand", ["-o", "loop", file]);
}

/**
 * Makes the disk: a file at the stand, whose file system keeps unflushed data in its own memory. A copy of that file
 * between two writes equals a disk without a write cache after a power cut.
 */
export async function createCrashDisk(
  mounts: Mounts,
  stand: string,
  type: FileSystemType,
): Promise<CrashDisk> {
  const { program, args, options } = MAKE[type];
  const [disk, copy] = [join(stand, "disk.img"), join(stand, "copy.img")];
  await makeFile(disk, DISK_BYTES);
  await makeFileSystem(program, [...args, disk]);
  const directory = await mounts.mount("disk", ["-o", options, disk]);
  return {
    directory,
    cutPower: () => copyFileSync(disk, copy, constants.COPYFILE_FICLONE_FORCE),
    async recover() {
      await mounts.unmount("disk");
      await mounts.mount("disk", ["-o", options, copy]);
    },
    async close() {
      await mounts.unmount("disk");
      await rm(disk);
      await rm(copy, { force: true });
    },
  };
}

/** A sparse file. */
async function makeFile(path: string, bytes: number): Promise<void> {
  const file = await open(path, "w");
  await file.truncate(bytes).finally(() => file.close());
}

async function makeFileSystem(program: string, args: readonly string[]): Promise<void> {
  const { status, stderr } = await run(program, args);
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
}
