import { constants, copyFileSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { programs, run } from "../../support/programs.ts";
import type { Mounts } from "./mounts.ts";

export type FileSystemType = "ext4" | "xfs";

/** A file system on a disk that can show its state after a power cut. */
export interface CrashDisk {
  /** The root of the file system. */
  directory: string;
  /** Cuts the power of a copy: what has reached the disk by now, without what waits in memory to be written. */
  cutPower(): void;
  /** Mounts the state after the power cut in place of the disk. The caller has ended all users of the disk. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

const DISK_BYTES = 512 * 1024 ** 2;
/** Room for the disk and its copy; the blocks that they have in common are there once. */
const STAND_BYTES = 2 * 1024 ** 3;
const MAKE: Record<FileSystemType, { program: string; args: string[]; options: string }> = {
  // The journal is written on fsync only, not every five seconds.
  ext4: { program: programs.mkfsExt4, args: ["-q", "-F"], options: "loop,commit=300" },
  xfs: { program: programs.mkfsXfs, args: ["-q", "-f"], options: "loop" },
};

/** A place where files can be copied in an instant, whatever their length. */
export async function mountStand(mounts: Mounts): Promise<string> {
  const file = join(mounts.directory, "stand.img");
  await makeFile(file, STAND_BYTES);
  await makeFileSystem(programs.mkfsXfs, ["-q", "-f", "-m", "reflink=1", file]);
  return mounts.mount("stand", ["-o", "loop", file]);
}

/**
 * Makes the disk, a file at the stand whose file system keeps in its own memory what is not flushed. The copy of that file
 * is taken between two writes to it, as a disk without a cache of its own stands when the power goes.
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

/** A file of holes. */
async function makeFile(path: string, bytes: number): Promise<void> {
  const file = await open(path, "w");
  await file.truncate(bytes).finally(() => file.close());
}

async function makeFileSystem(program: string, args: readonly string[]): Promise<void> {
  const { status, stderr } = await run(program, args);
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
}
