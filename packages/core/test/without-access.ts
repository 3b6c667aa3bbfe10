import { execFileSync } from "node:child_process";
import { chmodSync, statSync } from "node:fs";

const isRoot = process.geteuid?.() === 0;
/** A user that permissions bind: root reads everything. */
const ORDINARY = 65_534;

/** Takes the permission to read files or directories from their owner. @returns a function that gives it back. */
export function refuseAccess(paths: readonly string[]): () => void {
  const modes = paths.map((path) => statSync(path).mode);
  for (const path of paths) chmodSync(path, 0);
  return () => {
    for (const [at, path] of paths.entries()) chmodSync(path, modes[at] ?? 0o700);
  };
}

/** Runs `work` as the ordinary user, which may not read files or directories below `root`. */
export async function withoutAccess<T>(
  root: string,
  paths: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  if (isRoot) execFileSync("chown", ["-R", String(ORDINARY), root]);
  const permit = refuseAccess(paths);
  if (isRoot) process.seteuid?.(ORDINARY);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    permit();
  }
}
