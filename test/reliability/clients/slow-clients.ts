import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("slow-sockets.mjs", import.meta.url));

export interface SlowClientsOptions {
  origin: string;
  /** Number of clients of all four kinds together: slow headers, slow upload, slow reader, silent. */
  count: number;
  /** Path of a large picture. */
  download: string;
  /** Whether they continue one byte at a time; otherwise they stop at the least convenient point. */
  drips: boolean;
  /** Whether a cut client reconnects. If so they reconnect one after the other, otherwise all at once. */
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
  /** From here on the readers read incoming bytes, so that they notice a cut. */
  readOn(): Promise<void>;
  /** Drops all remaining connections. */
  end(): Promise<void>;
}

/** Resolves once all clients are connected. */
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
