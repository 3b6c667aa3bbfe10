import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StorageDescription } from "../../backends/open-storage.mjs";
import type { StorageName } from "../../backends/servers.ts";
import { afterEachTest } from "../../support/hooks.ts";
import { isSoak, partOf } from "../../support/soak.ts";
import { startProcess } from "../../support/start-process.ts";

/** A nightly run tests each service; a soak also tests Redis and S3 together. */
export const STORAGES: readonly StorageName[] = isSoak
  ? ["Redis", "S3", "S3 with records in PostgreSQL", "S3 with records in Redis"]
  : partOf(["Redis", "S3", "S3 with records in PostgreSQL"], ["Redis"]);

const NODE = new URL("node.mjs", import.meta.url);

/** The argument of node.mjs. */
export interface NodeConfig {
  storage: StorageDescription;
  /** Directory of the log that all nodes share, and of the gate files. */
  directory: string;
  /** The fault in its stores, one of node-storage.mjs. @default none */
  mutant?: string;
  /** Whether the nodes have their rate limits in the Redis of the storage. @default false */
  isShared?: boolean;
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
