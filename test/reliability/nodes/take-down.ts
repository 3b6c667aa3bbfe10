import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { inParallel } from "../../hostile/in-parallel.ts";
import type { Created } from "../../support/service.ts";
import type { NodeProcess } from "./node-process.ts";
import { ask, tally } from "./requests.ts";

/** A way to take an image down: a call to a node, and the status that reads get once it has returned. */
export interface TakeDown {
  status: number;
  call(node: NodeProcess, image: Created): Promise<void>;
}

export const WITHHOLD: TakeDown = {
  status: 451,
  async call({ origin }, { id }) {
    await expectDone(`${origin}/withhold/${id}`, "POST", {});
  },
};

export const DELETE: TakeDown = {
  status: 410,
  async call({ base }, { id, pin }) {
    await expectDone(`${base}/api/images/${id}.json`, "DELETE", { "X-Service-Image-Pin": pin });
  },
};

async function expectDone(url: string, method: string, headers: Record<string, string>): Promise<void> {
  const { status, body } = await ask(url, { method, headers });
  if (status !== 204) throw new Error(`${method}: ${status} ${body}`);
}

interface Read {
  target: string;
  method: string;
  headers: Record<string, string>;
}

/** Reads of an image, each of another kind; every node can now answer them from memory except for the record. */
export async function warmUp(nodes: readonly NodeProcess[], { id }: Created): Promise<Read[]> {
  const pictures = [`api/images/${id}.png`, `api/images/${id}.jpg?resize=60x`, id];
  const reads: Read[] = [];
  for (const target of [...pictures, `api/images/${id}.json`]) {
    const answers = await Promise.all(nodes.map(({ base }) => ask(`${base}/${target}`)));
    const bad = answers.find(({ status }) => status !== 200);
    if (bad !== undefined) throw new Error(`${target}: ${bad.status} ${bad.body}`);
    reads.push(
      { target, method: "GET", headers: {} },
      { target, method: "GET", headers: { "If-None-Match": answers[0]?.headers.etag ?? "" } },
      { target, method: "HEAD", headers: {} },
    );
    if (pictures.includes(target)) reads.push({ target, method: "GET", headers: { Range: "bytes=0-99" } });
  }
  return reads;
}

export interface TakeDownOptions {
  /** How many reads begin after the call has returned. */
  count: number;
  /** How long the node stays suspended after that, in milliseconds. */
  suspendedMs: number;
}

const NO_READ: Read = { target: "", method: "GET", headers: {} };

/** Concurrent readers per node. */
const LANES = 6;

/**
 * Takes an image down through the first node while all are being read from, and the last is suspended.
 * @returns the counts per status of reads that ended before the last node was suspended, and of reads that began after
 * the call had returned. Reads between may answer either way.
 */
export async function takeDown(
  nodes: readonly NodeProcess[],
  image: Created,
  { call, status: expected }: TakeDown,
  { count, suspendedMs }: TakeDownOptions,
): Promise<{ before: Record<string, number>; after: Record<string, number> }> {
  const [first, last] = [nodes[0], nodes.at(-1)];
  if (first === undefined || last === undefined) throw new Error("There are no nodes");
  const reads = await warmUp(nodes, image);

  /** Names the read if its reply is not that of an image taken down. */
  async function read({ base }: NodeProcess, index: number): Promise<string> {
    const { target, method, headers } = reads[index % reads.length] ?? NO_READ;
    const { status } = await ask(`${base}/${target}`, { method, headers });
    if (status === expected) return String(status);
    return `${status} ${method} ${target.replace(image.id, "ID")} ${Object.keys(headers)}`;
  }

  const before: string[] = [];
  let phase: "before" | "during" | "after" = "before";
  const readers = nodes.flatMap((node) =>
    Array.from({ length: LANES }, async (_, lane) => {
      for (let index = lane; phase !== "after"; index++) {
        const answer = await read(node, index);
        if (phase === "before") before.push(answer.slice(0, 3));
      }
    }),
  );
  const enough = reads.length * nodes.length * 2;
  await expect.poll(() => before.length, { interval: 10 }).toBeGreaterThan(enough);
  phase = "during";
  last.suspend();
  await call(first, image);
  phase = "after";
  // They wait in the accept queue of the suspended node.
  const early = reads.map((_, index) => read(last, index));
  await delay(suspendedMs);
  last.resume();
  const indexes = Array.from({ length: count - early.length }, (_, index) => index);
  const late = await inParallel(indexes, LANES * nodes.length, (index) =>
    read(nodes[index % nodes.length] ?? first, Math.floor(index / nodes.length)),
  );
  await Promise.all(readers);
  return { before: tally(before), after: tally([...(await Promise.all(early)), ...late]) };
}
