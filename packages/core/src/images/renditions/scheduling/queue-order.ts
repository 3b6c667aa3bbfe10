import type { RecentUse } from "./recent-use.ts";

/**
 * Work for the renderer. `render`: a rendition that a client waits for. `admit`: an upload that a client waits for.
 * `background`: an upload or a renewal that no client waits for.
 */
export type WorkKind = "render" | "admit" | "background";

/** The clients that wait for one piece of work. More may join while it is queued; see {@link RenderQueue.join}. */
export interface Claim {
  readonly clients: Set<string>;
}

/** The client name of calls in code. It takes turns like others, without limits per client. No client address looks like it. */
export const HOST_CLIENT = "host app";

/** Work that is queued or running. */
export interface QueuedWork {
  kind: WorkKind;
  claim: Claim;
  /** Predicted CPU time in milliseconds. */
  predictedMs: number;
}

/** Queued work. */
export interface WaitingWork extends QueuedWork {
  arrivedAtMs: number;
}

/** Running work. */
export interface RunningWork extends QueuedWork {
  /** The client whose turn it was. It is charged. */
  client: string;
}

/** Picks the work to start now and the client to charge among those that claim it; `null`: none may start. */
export type PickNext = <W extends WaitingWork>(
  waiting: readonly W[],
  running: ReadonlySet<RunningWork>,
) => { work: W; client: string } | null;

/** Work predicted to take less CPU time is cheap, other work is dear. Milliseconds. */
export const CHEAP_MS = 150;
/** Most running work of one client and kind. */
export const MAX_RUNNING_PER_CLIENT = 2;
/** Work queued for longer may use the turns reserved for the oldest. */
const OLD_MS = 10_000;
/** One of this many starts is reserved for the oldest work. */
const OLDEST_TURN = 4;

/**
 * Creates a function that picks the next work for a free worker. The caller must start the returned work.
 *
 * 1. Dear work leaves at least one worker free. With one worker, cheap work goes first.
 * 2. Of renders and admissions, the kind with fewer running goes first; at a tie, the kinds alternate. Background work starts
 *    if neither can.
 * 3. The client with the least CPU time goes first: {@link RecentUse} plus the prediction of its running work. At a tie, the
 *    client that arrived first goes first.
 * 4. Within a client, cheap work goes before dear work, then in order of arrival.
 *
 * No work starves: every fourth start goes to the oldest work queued for more than 10 s. If that is dear and no worker
 * may take it yet, it gets the next worker that may.
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

  /** The client with the least use that may run more work of this kind. */
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

/** The preferred elements; all elements if none is preferred. */
function prefer<T>(all: T[], isPreferred: (each: T) => boolean): T[] {
  const preferred = all.filter(isPreferred);
  return preferred.length === 0 ? all : preferred;
}
