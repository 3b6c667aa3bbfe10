import type { Operation } from "./attempt.ts";
import { ROLES, type Role, startHost, threadsOf } from "./host-process.ts";
import { type TracedCall, traceThreads } from "./tracing.ts";

/** Calls that change stored data or wait for the disk. Not every machine has all of them. */
export const CHANGING_CALLS = [
  ...["openat", "close", "write", "writev", "pwrite64", "pwritev", "copy_file_range", "ftruncate", "fchmod"],
  ...["fsync", "fdatasync", "mkdir", "mkdirat", "symlink", "symlinkat", "link", "linkat"],
  ...["rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir"],
];

/** Calls that only read. */
export const LOOKING_CALLS = [
  "statx",
  "newfstatat",
  "readlink",
  "readlinkat",
  "access",
  "faccessat",
  "faccessat2",
].concat(["getdents64", "read", "pread64", "preadv"]);

/** A system call of an operation: the `when`-th of this name by the threads of the role, counted from 1. */
export interface Point {
  role: Role;
  call: string;
  when: number;
  /** Whether it sends the reply; otherwise it is about a file. */
  isAnswer: boolean;
}

export interface FindOptions {
  /** The calls to list. */
  calls: readonly string[];
  /** A directory without stored data. */
  newDirectory(): Promise<string>;
  /** Whether the operation has run in the directory before. Otherwise it is the first one there. */
  isRepeated: boolean;
  /** One of mutants.mjs, or empty. */
  mutant: string;
}

/** Runs an operation undisturbed and lists its calls that name a path in the data directory, or that send its reply. */
export async function findPoints(operation: Operation, options: FindOptions): Promise<Point[]> {
  const points: Point[] = [];
  for (const role of ROLES) {
    const directory = await options.newDirectory();
    const host = await startHost(directory, options.mutant);
    if (options.isRepeated) await (await operation(host.base, directory)).run();
    const attempt = await operation(host.base, directory);
    const tracing = await traceThreads(threadsOf(host, role), options.calls);
    await attempt.run();
    await tracing.quiet();
    points.push(...pointsIn(await tracing.end(), role, directory));
    await host.kill();
  }
  return points;
}

function pointsIn(calls: readonly TracedCall[], role: Role, directory: string): Point[] {
  const counts = new Map<string, number>();
  return calls.flatMap(({ name, line }) => {
    const when = (counts.get(name) ?? 0) + 1;
    counts.set(name, when);
    const isAnswer = name.startsWith("write") && line.includes("<socket:");
    return isAnswer || line.includes(directory) ? [{ role, call: name, when, isAnswer }] : [];
  });
}

/** About `count` entries at even distances over the whole list. */
export function spread<T>(list: readonly T[], count: number): T[] {
  const step = Math.max(1, list.length / count);
  return Array.from(
    { length: Math.min(count, list.length) },
    (_, index) => list[Math.floor(index * step)],
  ).filter((item) => item !== undefined);
}
