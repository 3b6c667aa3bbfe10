import type { RenderSource, WorkOptions } from "@outrigger/core/images";
import { running } from "../src/pool/node-program.ts";
import { createLevelSearch } from "../src/pool/sandbox/levels.ts";
import { WorkerPool, type WorkerPoolOptions } from "../src/pool/worker-pool.ts";

export interface Answer {
  startedAt: number;
  endedAt: number;
  /** Identifies the worker process. */
  worker: string;
  value?: unknown;
  /** Bytes that came with the task. */
  received: string;
  /** Bytes that came with the reply. */
  attached: string;
}

/** A pool whose tasks come without bytes. */
export interface TaskPool {
  run(task: object, work?: WorkOptions, source?: RenderSource): Promise<Answer>;
  close(): Promise<void>;
}

const pools: WorkerPool[] = [];

/** A pool of workers that run test/task-worker.mjs. */
export function poolOf(options: Partial<WorkerPoolOptions> = {}): TaskPool {
  const pool = new WorkerPool({
    entry: new URL("./task-worker.mjs", import.meta.url),
    node: running(),
    levels: createLevelSearch("best"),
    workers: 1,
    timeoutMs: 60_000,
    maxMemoryBytes: 512 * 1024 ** 2,
    maxTasksPerWorker: 1000,
    maxRestingBytes: 512 * 1024 ** 2,
    maxTotalMemoryBytes: 2048 * 1024 ** 2,
    ...options,
  });
  pools.push(pool);
  return {
    run: (task, work, source = { bytes: Buffer.alloc(0) }) =>
      pool.run({ task, source, read: readAnswer }, work),
    close: () => pool.close(),
  };
}

function readAnswer(reply: unknown, bytes: Buffer): Answer {
  const answer = reply as Answer; // From test/task-worker.mjs.
  if (Object(answer.value).invalid) throw new Error("This reply is invalid");
  return { ...answer, attached: bytes.toString("latin1") };
}

/** Closes all pools of a test. */
export async function closePools(): Promise<void> {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
}
