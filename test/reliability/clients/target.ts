import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { OutriggerProcess } from "../../../packages/server/test/outrigger-process.ts";

/** An image service that clients do bad things to, and what can be seen of it from outside. */
export interface Target {
  /** Without a trailing slash. */
  base: string;
  /** Its data directory. */
  data: string;
  /** Of its process. */
  countDescriptors(): Promise<number>;
  /** What it has complained about so far. */
  errors(): readonly string[];
}

/** `outrigger serve`, whose data are in `data`. */
export async function servedTarget({ child, output, url }: OutriggerProcess, data: string): Promise<Target> {
  return {
    base: await url,
    data,
    countDescriptors: () => countDescriptors(child.pid),
    errors: () => output.stderr.split("\n").filter(isErrorLine),
  };
}

/** Of this process when none is given. */
export async function countDescriptors(pid: number | "self" = "self"): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

/** Every file below one of the data's directories; empty where there is no such directory. */
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
    // Not from the logger: what Node itself prints, such as a warning.
    return true;
  }
}
