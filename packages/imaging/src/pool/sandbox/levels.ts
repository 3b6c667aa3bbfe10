import type { ServiceError } from "@outrigger/core";
import type { Sandbox, SandboxLevel } from "@outrigger/core/images";
import { notWorking } from "../failures.ts";

/** The `sandbox` option of a renderer. */
export type SandboxMode = "required" | "best" | "off";

/** The level of the processes of a pool, found by starting the first one. */
export interface LevelSearch {
  /** Levels to try, the strongest first. One level once it is known. */
  candidates(): readonly SandboxLevel[];
  /** Reports that a process started at `level`, after the stronger ones failed. */
  found(level: SandboxLevel, failures: Sandbox["failures"]): void;
  /** `null` until a process has started. */
  result(): Sandbox | null;
}

const LEVELS: Readonly<Record<SandboxMode, readonly SandboxLevel[]>> = {
  required: ["bubblewrap"],
  best: ["bubblewrap", "none"],
  off: ["none"],
};

/**
 * What this process found. A later failure to start at this level does not lead to a weaker one, so no client can bring
 * that about.
 */
const results = new Map<SandboxMode, Sandbox>();

export function createLevelSearch(mode: SandboxMode): LevelSearch {
  return {
    candidates() {
      const known = results.get(mode);
      return known === undefined ? LEVELS[mode] : [known.level];
    },
    found(level, failures) {
      if (!results.has(mode)) results.set(mode, { level, failures });
    },
    result: () => results.get(mode) ?? null,
  };
}

/** The error when no process starts with `sandbox: "required"`. */
export function noSandbox(failures: Sandbox["failures"]): ServiceError {
  const tried = failures.map(({ level, reason }) => `${level}: ${reason}`).join("; ");
  return notWorking(
    `No sandbox works here, and sandbox is "required". Install bubblewrap and allow user namespaces (docs/security.md). ${tried}`,
  );
}
