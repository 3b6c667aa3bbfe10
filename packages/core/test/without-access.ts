import { execFileSync } from "node:child_process";
import { chmodSync, statSync } from "node:fs";

const isRoot = process.geteuid?.() === 0;
/** A user that permissions bind: root reads everything. */
export const ordinary = isRoot ? 65_534 : (process.geteuid?.() ?? 0);

/**
 * Gives `root` to the ordinary user, and takes the permission to read files or directories below it.
 * @returns a function that gives that permission back.
 */
export function refuseAccess(root: string, paths: readonly string[]): () => void {
  if (isRoot) execFileSync("chown", ["-R", String(ordinary), root]);
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
  const permit = refuseAccess(root, paths);
  if (isRoot) process.seteuid?.(ordinary);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    permit();
  }
}
