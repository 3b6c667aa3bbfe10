import { setMaxListeners } from "node:events";
import { expect } from "vitest";
import { eventsOf } from "./node-log.ts";
import type { NodeProcess } from "./node-process.ts";
import { type Answer, ask } from "./requests.ts";

/** Requests for one target, sent at once. */
export interface ColdRequests {
  /** The replies at a node. Rejects if one is incomplete. */
  at(...nodes: NodeProcess[]): Promise<Answer[]>;
  /** Aborts the requests at a node. Resolves once they are closed. */
  leave(node: NodeProcess): Promise<void>;
}

/** Sends `count` requests for `path` at once, the nodes by turns. */
export function askAtOnce(nodes: readonly NodeProcess[], path: string, count: number): ColdRequests {
  const sent = new Map<NodeProcess, { left: AbortController; answers: Promise<Answer>[] }>();
  for (const node of nodes) {
    const left = new AbortController();
    // One agent per request.
    setMaxListeners(count, left.signal);
    sent.set(node, { left, answers: [] });
  }
  const perNode = [...sent];
  for (let at = 0; at < count; at++) {
    const entry = perNode[at % perNode.length];
    if (entry === undefined) throw new Error("There are no nodes");
    const [node, { left, answers }] = entry;
    const answer = ask(`${node.base}/${path}`, { signal: left.signal });
    // Requests that are not awaited, such as those at a killed node, may fail silently.
    answer.catch(() => undefined);
    answers.push(answer);
  }
  return {
    async at(...some) {
      return (await Promise.all(some.map((node) => Promise.all(sent.get(node)?.answers ?? [])))).flat();
    },
    async leave(node) {
      sent.get(node)?.left.abort();
      await Promise.allSettled(sent.get(node)?.answers ?? []);
    },
  };
}

/** Waits until one of the nodes renders `what`. @returns that node, and the nodes that wait for it. */
export async function whoRenders(
  nodes: readonly NodeProcess[],
  directory: string,
  what: string,
): Promise<{ leader: NodeProcess; followers: NodeProcess[] }> {
  const begun = async () => (await eventsOf(directory, "render")).filter((each) => each.what === what);
  await expect.poll(begun, { interval: 10 }).not.toEqual([]);
  const [first] = await begun();
  const leader = nodes.find(({ pid }) => pid === first?.pid);
  if (leader === undefined) throw new Error(`Process ${first?.pid} is none of the nodes`);
  return { leader, followers: nodes.filter((node) => node !== leader) };
}

/** How many calls of a node's stores have named an image so far. */
export async function storeCalls({ origin }: NodeProcess, id: string): Promise<number> {
  return Number((await ask(`${origin}/calls/${id}`)).body);
}
