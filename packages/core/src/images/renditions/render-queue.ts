import { AsyncResource } from "node:async_hooks";
import { ServiceError } from "../../errors.ts";
import {
  type Claim,
  createQueueOrder,
  HOST_CLIENT,
  MAX_RUNNING_PER_CLIENT,
  type QueuedWork,
  type RunningWork,
  type WaitingWork,
  type WorkKind,
} from "./queue-order.ts";
import { createRecentUse } from "./recent-use.ts";

export interface RenderQueueOptions {
  /** Pictures worked on at once. */
  workers: number;
  /** Work that may wait, that of all clients together. */
  maxQueue: number;
  /** Whether one client may have so much in line and under way, and no more. @default true */
  boundsClients?: boolean;
  /** Milliseconds of a clock that is never set back. @default performance.now */
  nowMs?: () => number;
}

/** Given to work that begins. */
export interface Begun {
  /** The client whose turn it is, and who is charged. */
  client: string;
  /** To be told what the work cost. @default the time that it took */
  onCost(cpuMs: number): void;
}

/** Takes the clients of a renderer in turns; see {@link createQueueOrder} for the rules. */
export interface RenderQueue {
  /**
   * Does the work when it is its turn. Rejects as it does; with `rate_limited` when its client has too much in line, or has the
   * longest line where another client needs the place; with `overloaded` when the line is full of clients with
   * one place each, of which the others used no more; with the signal's reason when that is aborted before the work begins.
   */
  run<T>(asked: QueuedWork & { signal: AbortSignal }, work: (begun: Begun) => Promise<T>): Promise<T>;
  /** Adds a client to those who wait for some work: it is then done in the best turn of them. */
  join(claim: Claim, client: string): void;
  /** Whether work of another client waits. */
  othersWait(client: string): boolean;
  /** Work at this moment. */
  state(): { waiting: number; running: number };
}

/** Work of one client that may wait. Background work has a bound of its own, where it comes from. */
const MAX_WAITING: Record<WorkKind, number> = { render: 8, admit: 16, background: Number.POSITIVE_INFINITY };
const MIN_RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 60_000;

interface Place extends WaitingWork {
  /** Whose line it stands in: the client that came first. */
  owner: string;
  begin(client: string): void;
  reject(error: ServiceError): void;
}

export function createRenderQueue({
  workers,
  maxQueue,
  boundsClients = true,
  nowMs = () => performance.now(),
}: RenderQueueOptions): RenderQueue {
  const use = createRecentUse(nowMs);
  const takeTurn = createQueueOrder(workers, use, nowMs, boundsClients ? MAX_RUNNING_PER_CLIENT : workers);
  /** In the order in which they came. */
  const waiting: Place[] = [];
  const running = new Set<RunningWork>();

  function dispatch(): void {
    while (running.size < workers) {
      const next = takeTurn(waiting, running);
      if (next === null) return;
      remove(next.work);
      next.work.begin(next.client);
    }
  }

  async function begin<T>(asked: QueuedWork, client: string, work: (begun: Begun) => Promise<T>): Promise<T> {
    const underWay: RunningWork = { ...asked, client };
    running.add(underWay);
    const begunAtMs = nowMs();
    let cpuMs: number | undefined;
    try {
      return await work({
        client,
        onCost(measuredMs) {
          cpuMs = measuredMs;
        },
      });
    } finally {
      running.delete(underWay);
      use.add(client, cpuMs ?? nowMs() - begunAtMs);
      dispatch();
    }
  }

  /** Clients with work in line or under way. */
  function present(): Set<string> {
    const clients = new Set([...running].map(({ client }) => client));
    for (const { claim } of waiting) for (const client of claim.clients) clients.add(client);
    return clients;
  }

  /** Notes a client before it adds to the line. */
  function enter(client: string): void {
    const clients = present();
    if (!clients.has(client)) use.enter(client, clients);
  }

  function remove(place: Place): void {
    const index = waiting.indexOf(place);
    if (index >= 0) waiting.splice(index, 1);
  }

  /** Rejects the newcomer, or what it takes the place of, where there are too many. */
  function makeRoomFor(newcomer: Place): void {
    const { owner, kind } = newcomer;
    const own = waiting.filter((place) => place.owner === owner);
    const isBounded = boundsClients && owner !== HOST_CLIENT;
    if (isBounded && own.filter((place) => place.kind === kind).length > MAX_WAITING[kind]) {
      refuseAsTooMany(newcomer);
      return;
    }
    if (waiting.length <= maxQueue) return;
    const lines = new Map<string, Place[]>();
    for (const place of waiting) {
      const line = lines.get(place.owner);
      if (line === undefined) lines.set(place.owner, [place]);
      else line.push(place);
    }
    let longest = own;
    for (const line of lines.values()) if (line.length > longest.length) longest = line;
    const last = longest.at(-1);
    if (last === undefined || (longest === own && (own.length === 1 || !boundsClients)))
      refuseAsFull(mostUsing(newcomer));
    else if (last.kind === "background" || last.owner === HOST_CLIENT) refuseAsFull(last);
    else refuseAsTooMany(last);
  }

  /** Of a line in which each client has one place, that of the client that used the most, else the newcomer. */
  function mostUsing(newcomer: Place): Place {
    let most = newcomer;
    for (const place of waiting) if (use.of(place.owner) > use.of(most.owner)) most = place;
    return most;
  }

  /** Rejects with 429, and says when what its client has in line will be done. */
  function refuseAsTooMany(place: Place): void {
    remove(place);
    const line = waiting.filter(({ owner }) => owner === place.owner);
    const retryAfterMs = timeFor(line, Math.min(2, workers));
    place.reject(
      new ServiceError("rate_limited", "You have too many images waiting to be rendered.", { retryAfterMs }),
    );
  }

  /** Rejects with 503, and says when all that is here will be done. */
  function refuseAsFull(place: Place): void {
    remove(place);
    const retryAfterMs = timeFor([...waiting, ...running], workers);
    place.reject(
      new ServiceError("overloaded", "Too many images are waiting to be rendered.", { retryAfterMs }),
    );
  }

  return {
    run({ signal, ...asked }, work) {
      if (signal.aborted) return Promise.reject(signal.reason);
      return new Promise((resolve, reject) => {
        const [owner = ""] = asked.claim.clients;
        const leave = () => {
          remove(place);
          reject(signal.reason);
        };
        const release = () => signal.removeEventListener("abort", leave);
        const place: Place = {
          ...asked,
          owner,
          arrivedAtMs: nowMs(),
          // Begun by the end of other work, it still belongs to the request that asked for it.
          begin: AsyncResource.bind((client: string) => {
            release();
            begin(asked, client, work).then(resolve, reject);
          }),
          reject(error) {
            release();
            reject(error);
          },
        };
        signal.addEventListener("abort", leave, { once: true });
        enter(owner);
        waiting.push(place);
        dispatch();
        if (waiting.includes(place)) makeRoomFor(place);
      });
    },
    join({ clients }, client) {
      enter(client);
      clients.add(client);
      dispatch();
    },
    othersWait: (client) => waiting.some(({ claim }) => !claim.clients.has(client)),
    state: () => ({ waiting: waiting.length, running: running.size }),
  };
}

/** Milliseconds after which so much work is done by its prediction. */
function timeFor(work: readonly QueuedWork[], workers: number): number {
  const totalMs = work.reduce((sum, { predictedMs }) => sum + predictedMs, 0);
  return Math.round(Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, totalMs / workers)));
}
