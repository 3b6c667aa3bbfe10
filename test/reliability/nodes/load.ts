import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { NodeProcess } from "./node-process.ts";
import { ask } from "./requests.ts";
import { type File, makeFiles, send } from "./uploads.ts";

/** Clients of every node that upload, read and request renditions until stopped. */
export interface Load {
  /** Waits for this many more rounds, all nodes together. */
  done(nodes: readonly NodeProcess[], rounds: number): Promise<void>;
  end(): Promise<{ failures: { node: NodeProcess; what: string }[]; uploaded: { id: string }[] }>;
}

/** Clients of a node. */
const LANES = 3;

export async function loadNodes(nodes: readonly NodeProcess[]): Promise<Load> {
  const files = await makeFiles(LANES);
  const rounds = new Map(nodes.map((node) => [node, 0]));
  const failures: { node: NodeProcess; what: string }[] = [];
  const uploaded: { id: string }[] = [];
  let isOver = false;

  async function round(node: NodeProcess, file: File): Promise<void> {
    const { status, id } = await send(node, file);
    if (status !== 201 || id === null) throw new Error(`${status}: upload`);
    uploaded.push({ id });
    // Its own images, and those that the clients of other nodes uploaded.
    for (const each of [{ id }, uploaded[Math.floor(Math.random() * uploaded.length)] ?? { id }]) {
      for (const path of [each.id, `api/images/${each.id}.json`, `api/images/${each.id}.jpg?resize=10x`]) {
        const read = await ask(`${node.base}/${path}`);
        if (read.status !== 200) throw new Error(`${read.status}: ${path} ${read.body}`);
      }
    }
  }

  const clients = nodes.flatMap((node) =>
    files.map(async (file) => {
      while (!isOver) {
        try {
          await round(node, file);
          rounds.set(node, (rounds.get(node) ?? 0) + 1);
        } catch (error) {
          failures.push({
            node,
            what: String(error instanceof Error ? (error.cause ?? error.message) : error),
          });
          await delay(50);
        }
      }
    }),
  );

  return {
    async done(some, count) {
      const sum = () => some.reduce((total, node) => total + (rounds.get(node) ?? 0), 0);
      const target = sum() + count;
      await expect.poll(sum).toBeGreaterThanOrEqual(target);
    },
    async end() {
      isOver = true;
      await Promise.all(clients);
      return { failures, uploaded };
    },
  };
}
