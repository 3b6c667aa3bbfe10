import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEachTest } from "../../support/hooks.ts";
import { startProcess } from "../../support/start-process.ts";
import type { StorageSpec } from "./storages.ts";

const NODE = new URL("node.mjs", import.meta.url);

/** The argument of node.mjs. */
export interface NodeConfig {
  storage: StorageSpec;
  /** Directory of the log that all nodes share, and of the gate files. */
  directory: string;
  /** The fault in its stores, one of node-storage.mjs. @default none */
  mutant?: string;
  /** Redis for the rate limits. @default rate limits per node */
  shared?: { url: string; prefix: string };
  /** Uploads per minute. @default no limits */
  creates?: number;
  /** Whether the node processes pending uploads. @default true */
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
  /** Ends the node with SIGKILL, as a crash does. */
  kill(): Promise<void>;
  /** Ends the node with SIGTERM, as a deployment does. @returns its exit code. */
  stop(): Promise<number | null>;
}

const running = new Set<NodeProcess>();
const directories = new Set<string>();

// Also after a failed test no node remains.
afterEachTest(async () => {
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
  const started = await startProcess([NODE, JSON.stringify(config)]);
  const { child, announced: origin } = started;
  if (child.pid === undefined) throw new Error("The node has no process ID");
  const node: NodeProcess = {
    origin,
    base: `${origin}/img`,
    pid: child.pid,
    suspend: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async kill() {
      await started.kill();
      running.delete(node);
    },
    async stop() {
      child.kill("SIGTERM");
      await started.exit;
      running.delete(node);
      return child.exitCode;
    },
  };
  running.add(node);
  return node;
}
