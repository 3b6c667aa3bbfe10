import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import type { StorageSpec } from "./storages.ts";

const NODE = fileURLToPath(new URL("node.mjs", import.meta.url));

/** Settings of node.mjs. */
export interface NodeConfig {
  storage: StorageSpec;
  /** Directory of the nodes' common log and of the gate files. */
  directory: string;
  /** The fault of its stores: one of node-storage.mjs. @default none */
  mutant?: string;
  /**
   * Redis for shared state beside the stores: rate limits and the job queue. @default each node counts for itself, no
   * queue
   */
  shared?: { url: string; prefix: string };
  /** Uploads per minute. @default no limits */
  creates?: number;
  /** Whether a queue in `shared` distributes the uploads processed later. @default false */
  hasQueue?: boolean;
  /** Whether it processes those uploads. @default true */
  processUploads?: boolean;
}

/** A process of node.mjs. */
export interface NodeProcess {
  origin: string;
  /** Mount point of the image service. */
  base: string;
  pid: number;
  suspend(): void;
  resume(): void;
  /** Kills it, as a crash does. */
  kill(): Promise<void>;
  /** Ends it as a deployment does. @returns its exit code. */
  stop(): Promise<number | null>;
}

const running = new Set<NodeProcess>();
const directories = new Set<string>();

// The nodes end with the test, however it ends.
afterEach(async () => {
  await Promise.all([...running].map((node) => node.kill()));
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
  directories.clear();
});

/** A directory for the nodes of a test, removed after it. */
export async function nodesDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-nodes-"));
  directories.add(directory);
  return directory;
}

export function startNodes(count: number, config: NodeConfig): Promise<NodeProcess[]> {
  return Promise.all(Array.from({ length: count }, () => startNode(config)));
}

export async function startNode(config: NodeConfig): Promise<NodeProcess> {
  const child: ChildProcess = spawn(process.execPath, [NODE, JSON.stringify(config)], {
    env: { PATH: process.env.PATH ?? "" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let complaints = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
  });
  const ended = once(child, "close");
  const line = child.stdout === null ? [] : await Promise.race([once(child.stdout, "data"), ended]);
  if (child.exitCode !== null || child.pid === undefined) throw new Error(`The node ended: ${complaints}`);
  const origin = String(line[0]).trim();
  const node: NodeProcess = {
    origin,
    base: `${origin}/img`,
    pid: child.pid,
    suspend: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async kill() {
      child.kill("SIGKILL");
      await ended;
      running.delete(node);
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
      running.delete(node);
      return child.exitCode;
    },
  };
  running.add(node);
  return node;
}
