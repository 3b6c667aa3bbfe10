import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("slow-sockets.mjs", import.meta.url));

export interface SlowClientsOptions {
  origin: string;
  /** Of all four kinds together: slow with headers, slow with an upload, slow to read, silent. */
  count: number;
  /** Path of something large. */
  download: string;
  /** Whether they go on a byte at a time; otherwise they stop where it is least convenient. */
  drips: boolean;
  /** Whether one that was cut comes again. If so they come one after the other, otherwise all at once. */
  reopens: boolean;
}

export type SlowKind = "headers" | "upload" | "reader" | "idle";

export interface SlowReport {
  open: Record<SlowKind, number>;
  /** How many connections the server has ended. */
  cut: Record<SlowKind, number>;
}

export interface SlowClients {
  report(): Promise<SlowReport>;
  /** From here on the readers read what comes, so that they learn of it when they were cut. */
  readOn(): Promise<void>;
  /** Drops all connections that are left. */
  end(): Promise<void>;
}

/** Resolves when all are under way. */
export async function startSlowClients(options: SlowClientsOptions): Promise<SlowClients> {
  const child = fork(SCRIPT, [JSON.stringify(options)]);
  const exited = once(child, "exit");
  const next = async () => {
    const [message] = await once(child, "message");
    return message as SlowReport; // The script sends nothing else.
  };
  const ask = (question: "report" | "read on") => {
    const answer = next();
    child.send(question);
    return answer;
  };
  await next();
  return {
    report: () => ask("report"),
    async readOn() {
      await ask("read on");
    },
    async end() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
