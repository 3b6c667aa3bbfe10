import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { OutriggerProcess } from "../../../packages/server/test/outrigger-process.ts";

/** An image service under attack by its clients, and its state as seen from outside. */
export interface Target {
  /** Without a trailing slash. */
  base: string;
  /** Its data directory. */
  data: string;
  /** ID of its process. */
  countDescriptors(): Promise<number>;
  /** Its complaints so far. */
  errors(): readonly string[];
}

/** `outrigger serve` with its data in `data`. */
export async function servedTarget({ child, output, url }: OutriggerProcess, data: string): Promise<Target> {
  return {
    base: await url,
    data,
    countDescriptors: () => countDescriptors(child.pid),
    errors: () => output.stderr.split("\n").filter(isErrorLine),
  };
}

/** By default this process. */
export async function countDescriptors(pid: number | "self" = "self"): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

/** All files below one of the data's directories; empty if there is no such directory. */
export async function filesBelow(data: string, name: "tmp" | "blobs" | "due/images"): Promise<string[]> {
  try {
    const entries = await readdir(join(data, name), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function isErrorLine(line: string): boolean {
  if (line === "") return false;
  try {
    const { level }: { level: number } = JSON.parse(line);
    return level >= 50;
  } catch {
    // Printed by Node itself rather than the logger, such as a warning.
    return true;
  }
}
