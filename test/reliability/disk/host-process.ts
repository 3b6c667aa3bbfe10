import { startProcess } from "../../support/start-process.ts";

const HOST = new URL("host.mjs", import.meta.url);

/** A call that durability depends on; `<call> <part>`: only for paths with this part. */
export type StoreCall = "sync" | "syncDirectory" | `${"sync" | "syncDirectory"} ${string}`;

/** The image service in a process of its own. */
export interface HostProcess {
  base: string;
  /** The lines printed so far: warnings of its log, and `admit <path>`. */
  printed(): string[];
  /** Resolves when the process has ended. A second call does nothing. */
  kill(): Promise<void>;
}

export interface HostOptions {
  /** The calls that its store skips and acknowledges; `refusals`: the writes without room on disk. @default none */
  leftOut?: StoreCall | "changes of records" | "refusals";
  /** How far its clock runs ahead, in milliseconds. @default 0 */
  aheadMs?: number;
  /** Longest time to admit a file, in milliseconds. @default 20 */
  admitMs?: number;
  /** Uploads per client in a window. @default no limit */
  creates?: number;
  /** Length of a window, in milliseconds. @default a minute */
  windowMs?: number;
  /** @default the default of the service */
  sweepEveryMs?: number;
  /** Sweeps at every interval, without a check of the clock. @default false */
  sweepsBlindly?: boolean;
}

/** @param env in addition to the environment of this process. */
export async function startHostProcess(
  directory: string,
  options: HostOptions = {},
  env: Record<string, string> = {},
): Promise<HostProcess> {
  const complete = { aheadMs: 0, admitMs: 20, ...options };
  const {
    announced: base,
    output,
    kill,
  } = await startProcess([HOST, directory, JSON.stringify(complete)], {
    env: { ...process.env, ...env },
  });
  return {
    base,
    printed: () =>
      output()
        .split("\n")
        .filter((line) => line !== "" && line !== base),
    kill,
  };
}
