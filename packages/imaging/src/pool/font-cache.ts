import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { childEnvironment, lowerPriority } from "./start-process.ts";

/** Has fontconfig write its cache, once per process. */
let isStarted = false;

/**
 * Starts a process that writes the cache of fonts, outside the sandbox, which cannot write. Workers do not wait for it.
 * A failure only makes text slower.
 * @returns a function that ends it and resolves when it has exited.
 */
export function startFontCache(entry: URL, locale: string): () => Promise<void> {
  if (isStarted || process.platform !== "linux") return async () => undefined;
  isStarted = true;
  const child = spawn(process.execPath, [fileURLToPath(entry)], {
    env: childEnvironment(locale),
    stdio: ["pipe", "ignore", "ignore"],
  });
  const gone = new Promise<void>((resolve) => {
    child.once("close", () => resolve()).once("error", () => resolve());
  });
  if (child.pid !== undefined) lowerPriority(child.pid);
  unref(child);
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.kill("SIGKILL");
    await gone;
  };
}

/** Lets this process exit while the child works. */
function unref(child: ChildProcess): void {
  child.unref();
  child.stdin?.on("error", () => undefined);
  // A pipe, which Node opens as a socket.
  (child.stdin as Socket | null)?.unref();
}
