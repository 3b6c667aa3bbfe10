import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../support/programs.ts";

/** File systems that belong to one test. */
export interface Mounts {
  /** A directory on the machine's disk, e.g. for the files that are mounted. */
  directory: string;
  /** Mounts a file system under a name, with these arguments of mount(8). @returns a path visible to all processes. */
  mount(name: string, args: readonly string[]): Promise<string>;
  /** All processes with open files there must have ended before. */
  unmount(name: string): Promise<void>;
  /** Unmounts all. */
  close(): Promise<void>;
}

/**
 * Why this machine cannot run tests that mount file systems, in a few words; `null` if it can.
 * @param options.loop whether files are mounted too.
 */
export function whyNoMounts({ loop = false } = {}): string | null {
  if (process.getuid?.() !== 0) return "needs root to mount file systems";
  const inNamespace = ["--mount", "--propagation", "private", "mount", "-t", "tmpfs", "none", tmpdir()];
  if (spawnSync("unshare", inNamespace).status !== 0) return "file systems cannot be mounted here";
  if (loop && spawnSync("losetup", ["--find"]).status !== 0) return "there are no loop devices here";
  return null;
}

/**
 * The mounts live in a namespace held by a child process; others reach it through its root in /proc. The child exits
 * when its input closes, so the mounts and loop devices vanish however this process ends.
 */
export async function openMounts(): Promise<Mounts> {
  const directory = await mkdtemp(join(tmpdir(), `outrigger-mounts-${process.pid}-`));
  const holder = spawn("unshare", ["--mount", "--propagation", "private", "cat"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(holder, "close");
  // Its echo proves that the namespace exists.
  holder.stdin.write("\n");
  await once(holder.stdout, "data");

  async function inside(program: string, args: readonly string[]): Promise<void> {
    const namespace = `--mount=/proc/${holder.pid}/ns/mnt`;
    const { status, stderr } = await run("nsenter", [namespace, program, ...args]);
    if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  }

  return {
    directory,
    async mount(name, args) {
      const place = join(directory, name);
      await mkdir(place, { recursive: true });
      await inside("mount", [...args, place]);
      return `/proc/${holder.pid}/root${place}`;
    },
    unmount: (name) => inside("umount", [join(directory, name)]),
    async close() {
      holder.stdin.end();
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
