import type { RecentUse } from "./recent-use.ts";

/**
 * Work for the renderer. `render`: a rendition that a client waits for. `admit`: an upload that a client waits for.
 * `background`: an upload whose client has its answer.
 */
export type WorkKind = "render" | "admit" | "background";

/** The clients that wait for one piece of work. Others may join while it waits; see {@link RenderQueue.join}. */
export interface Claim {
  readonly clients: Set<string>;
}

/** The client of calls in code. It takes its turns as others do, and no bound per client holds for it. No address is spelt so. */
export const HOST_CLIENT = "host app";

/** Work in line, or under way. */
export interface QueuedWork {
  kind: WorkKind;
  claim: Claim;
  /** CPU time that it is expected to take, in milliseconds. */
  predictedMs: number;
}

/** Work in line. */
export interface WaitingWork extends QueuedWork {
  arrivedAtMs: number;
}

/** Work under way. */
export interface RunningWork extends QueuedWork {
  /** The client whose turn it was, and which is charged. */
  client: string;
}

/** Picks the work to start now, and the client among those that claim it; `null`: nothing. */
export type PickNext = <W extends WaitingWork>(
  waiting: readonly W[],
  running: ReadonlySet<RunningWork>,
) => { work: W; client: string } | null;

/** Work predicted to take less is cheap, other work dear. */
export const CHEAP_MS = 150;
/** Work of one client and kind at a time. */
export const MAX_RUNNING_PER_CLIENT = 2;
/** Work that waited longer is entitled to the turns of the oldest. */
const OLD_MS = 10_000;
/** Every so many starts, one belongs to the oldest. */
const OLDEST_TURN = 4;

/**
 * Makes a function that picks the next work when a worker is free. The caller must start what it returns.
 *
 * 1. Dear work takes at most all workers but one. With one worker, cheap work goes first.
 * 2. Of renders and admissions, the kind with less under way goes first; at a tie, the one that did not go last. Background
 *    work goes when neither can.
 * 3. The client that used the least CPU time goes first, as {@link RecentUse} counts it and with what it has under way; at a
 *    tie, the one that came first.
 * 4. Within a client, cheap work goes before dear work, then first come, first served.
 *
 * No work starves: every fourth start goes to the oldest work that has waited for more than 10 s. Where it is dear and no
 * worker may take it yet, it gets the next one that may.
 */
export function createQueueOrder(
  workers: number,
  use: RecentUse,
  nowMs: () => number,
  maxRunningPerClient = MAX_RUNNING_PER_CLIENT,
): PickNext {
  const maxDear = Math.max(1, workers - 1);
  let lastKind: WorkKind = "admit";
  let sinceOldest = 0;

  function choose<W extends WaitingWork>(
    waiting: readonly W[],
    running: ReadonlySet<RunningWork>,
  ): { work: W; client: string } | null {
    const candidates = waiting.flatMap((work) => {
      const client = clientFor(work, running);
      return client === null ? [] : [{ work, client }];
    });
    const mayBeDear = [...running].filter(isDear).length < maxDear;
    const oldest = candidates.find(({ work }) => nowMs() - work.arrivedAtMs > OLD_MS);
    if (oldest !== undefined && sinceOldest >= OLDEST_TURN - 1 && (mayBeDear || !isDear(oldest.work))) {
      sinceOldest = -1;
      return oldest;
    }
    let left = candidates.filter(({ work }) => mayBeDear || !isDear(work));
    left = prefer(left, ({ work }) => work.kind !== "background");
    if (workers === 1) left = prefer(left, ({ work }) => !isDear(work));
    const kind = kindInTurn(running);
    left = prefer(left, ({ work }) => work.kind === kind);
    const clients = new Map(left.map(({ client }) => [client, usedBy(client, running)]));
    const least = Math.min(...clients.values());
    const first = left.find(({ client }) => clients.get(client) === least);
    return (
      prefer(
        left.filter(({ client }) => client === first?.client),
        ({ work }) => !isDear(work),
      )[0] ?? null
    );
  }

  /** The client with the least use that may have more under way. */
  function clientFor({ kind, claim }: QueuedWork, running: ReadonlySet<RunningWork>): string | null {
    let best: { client: string; usedMs: number } | null = null;
    for (const client of claim.clients) {
      const underWay = [...running].filter((work) => work.client === client && work.kind === kind).length;
      if (underWay >= maxRunningPerClient) continue;
      const usedMs = usedBy(client, running);
      if (best === null || usedMs < best.usedMs) best = { client, usedMs };
    }
    return best?.client ?? null;
  }

  function usedBy(client: string, running: ReadonlySet<RunningWork>): number {
    let usedMs = use.of(client);
    for (const work of running) if (work.client === client) usedMs += work.predictedMs;
    return usedMs;
  }

  function kindInTurn(running: ReadonlySet<RunningWork>): WorkKind {
    const count = (kind: WorkKind) => [...running].filter((work) => work.kind === kind).length;
    const more = count("render") - count("admit");
    if (more === 0) return lastKind === "render" ? "admit" : "render";
    return more > 0 ? "admit" : "render";
  }

  return (waiting, running) => {
    const chosen = choose(waiting, running);
    if (chosen !== null) {
      sinceOldest++;
      if (chosen.work.kind !== "background") lastKind = chosen.work.kind;
    }
    return chosen;
  };
}

function isDear({ predictedMs }: QueuedWork): boolean {
  return predictedMs >= CHEAP_MS;
}

/** Those that are preferred; all where none is. */
function prefer<T>(all: T[], isPreferred: (each: T) => boolean): T[] {
  const preferred = all.filter(isPreferred);
  return preferred.length === 0 ? all : preferred;
}
