import { AsyncResource } from "node:async_hooks";
import { ServiceError } from "../../../errors.ts";
import {
  type Claim,
  createQueueOrder,
  HOST_CLIENT,
  MAX_RUNNING_PER_CLIENT,
  type PickNext,
  type QueuedWork,
  type RunningWork,
  type WaitingWork,
  type WorkKind,
} from "./queue-order.ts";
import { createRecentUse, type RecentUse } from "./recent-use.ts";

export interface RenderQueueOptions {
  /** Number of pictures rendered at once. */
  workers: number;
  /** Most queued work of all clients together. */
  maxQueue: number;
  /** Whether to limit the queued and running work of one client. @default true */
  boundsClients?: boolean;
  /** A monotonic clock in milliseconds. @default performance.now */
  nowMs?: () => number;
}

/** Passed to work when it begins. */
export interface Begun {
  /** The client whose turn it is. It is charged. */
  client: string;
  /** Reports the CPU time of the work. @default its duration */
  onCost(cpuMs: number): void;
}

/** Serves the clients of a renderer in turns; see {@link createQueueOrder} for the rules. */
export interface RenderQueue {
  /**
   * Runs the work at its turn. Rejects as the work does, and
   * - with `rate_limited` when its client has too much queued work, or the most while another client needs a place,
   * - with `overloaded` when the queue is full, each client has one place, and no other client used more CPU time,
   * - with the signal's reason if it aborts before the work begins.
   */
  run<T>(asked: QueuedWork & { signal: AbortSignal }, work: (begun: Begun) => Promise<T>): Promise<T>;
  /** Adds a client to those that wait for queued work. The work takes the best turn among theirs. */
  join(claim: Claim, client: string): void;
  /** Whether work of another client is queued. */
  othersWait(client: string): boolean;
  /** Number of queued and running pieces of work. */
  state(): { waiting: number; running: number };
}

/** Most queued work of one client. The job queue limits background work. */
const MAX_WAITING: Record<WorkKind, number> = { render: 8, admit: 16, background: Number.POSITIVE_INFINITY };
const MIN_RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 60_000;

interface Place extends WaitingWork {
  /** The client that queued it first. Its place counts for this client. */
  owner: string;
  begin(client: string): void;
  reject(error: ServiceError): void;
}

export function createRenderQueue(options: RenderQueueOptions): RenderQueue {
  return new FairQueue(options);
}

class FairQueue implements RenderQueue {
  readonly #workers: number;
  readonly #maxQueue: number;
  readonly #boundsClients: boolean;
  readonly #nowMs: () => number;
  readonly #use: RecentUse;
  readonly #pickNext: PickNext;
  /** In order of arrival. */
  readonly #waiting: Place[] = [];
  readonly #running = new Set<RunningWork>();

  constructor(options: RenderQueueOptions) {
    const { workers, maxQueue, boundsClients = true, nowMs = () => performance.now() } = options;
    this.#workers = workers;
    this.#maxQueue = maxQueue;
    this.#boundsClients = boundsClients;
    this.#nowMs = nowMs;
    this.#use = createRecentUse(nowMs);
    const maxRunning = boundsClients ? MAX_RUNNING_PER_CLIENT : workers;
    this.#pickNext = createQueueOrder(workers, this.#use, nowMs, maxRunning);
  }

  run<T>(
    { signal, ...asked }: QueuedWork & { signal: AbortSignal },
    work: (begun: Begun) => Promise<T>,
  ): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const [owner = ""] = asked.claim.clients;
      const leave = () => {
        this.#remove(place);
        reject(signal.reason);
      };
      const release = () => signal.removeEventListener("abort", leave);
      const place: Place = {
        ...asked,
        owner,
        arrivedAtMs: this.#nowMs(),
        // Other work starts it when it ends. Bind it to the async context of its own request.
        begin: AsyncResource.bind((client: string) => {
          release();
          this.#begin(asked, client, work).then(resolve, reject);
        }),
        reject(error) {
          release();
          reject(error);
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#enter(owner);
      this.#waiting.push(place);
      this.#dispatch();
      if (this.#waiting.includes(place)) this.#makeRoomFor(place);
    });
  }

  join({ clients }: Claim, client: string): void {
    this.#enter(client);
    clients.add(client);
    this.#dispatch();
  }

  othersWait(client: string): boolean {
    return this.#waiting.some(({ claim }) => !claim.clients.has(client));
  }

  state(): { waiting: number; running: number } {
    return { waiting: this.#waiting.length, running: this.#running.size };
  }

  #dispatch(): void {
    while (this.#running.size < this.#workers) {
      const next = this.#pickNext(this.#waiting, this.#running);
      if (next === null) return;
      this.#remove(next.work);
      next.work.begin(next.client);
    }
  }

  async #begin<T>(asked: QueuedWork, client: string, work: (begun: Begun) => Promise<T>): Promise<T> {
    const underWay: RunningWork = { ...asked, client };
    this.#running.add(underWay);
    const begunAtMs = this.#nowMs();
    let cpuMs: number | undefined;
    try {
      return await work({
        client,
        onCost(measuredMs) {
          cpuMs = measuredMs;
        },
      });
    } finally {
      this.#running.delete(underWay);
      this.#use.add(client, cpuMs ?? this.#nowMs() - begunAtMs);
      this.#dispatch();
    }
  }

  /** Counts a client as present before its work is queued. */
  #enter(client: string): void {
    const present = new Set([...this.#running].map((work) => work.client));
    for (const { claim } of this.#waiting) for (const each of claim.clients) present.add(each);
    if (!present.has(client)) this.#use.enter(client, present);
  }

  #remove(place: Place): void {
    const index = this.#waiting.indexOf(place);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /** Rejects the newcomer, or the place that it displaces, if the queue is too long. */
  #makeRoomFor(newcomer: Place): void {
    const { owner, kind } = newcomer;
    const own = this.#waiting.filter((place) => place.owner === owner);
    const isBounded = this.#boundsClients && owner !== HOST_CLIENT;
    if (isBounded && own.filter((place) => place.kind === kind).length > MAX_WAITING[kind]) {
      this.#rejectAsTooMany(newcomer);
      return;
    }
    if (this.#waiting.length <= this.#maxQueue) return;
    const longest = this.#longestLine(own);
    const last = longest.at(-1);
    const isOnlyOwn = longest === own && (own.length === 1 || !this.#boundsClients);
    if (last === undefined || isOnlyOwn) this.#rejectAsFull(this.#mostUsing(newcomer));
    else if (last.kind === "background" || last.owner === HOST_CLIENT) this.#rejectAsFull(last);
    else this.#rejectAsTooMany(last);
  }

  /** The places of the client with the most places; `own` if no client has more. */
  #longestLine(own: Place[]): Place[] {
    const lines = new Map<string, Place[]>();
    for (const place of this.#waiting) {
      const line = lines.get(place.owner);
      if (line === undefined) lines.set(place.owner, [place]);
      else line.push(place);
    }
    let longest = own;
    for (const line of lines.values()) if (line.length > longest.length) longest = line;
    return longest;
  }

  /** In a queue where each client has one place: the place of the client that used the most CPU time, else the newcomer. */
  #mostUsing(newcomer: Place): Place {
    const use = this.#use;
    let most = newcomer;
    for (const place of this.#waiting) if (use.of(place.owner) > use.of(most.owner)) most = place;
    return most;
  }

  /** Rejects with 429. The retry time is when the client's queued work should be done. */
  #rejectAsTooMany(place: Place): void {
    this.#remove(place);
    const line = this.#waiting.filter(({ owner }) => owner === place.owner);
    const retryAfterMs = timeFor(line, Math.min(2, this.#workers));
    place.reject(
      new ServiceError("rate_limited", "You have too many images waiting to be rendered.", { retryAfterMs }),
    );
  }

  /** Rejects with 503. The retry time is when all present work should be done. */
  #rejectAsFull(place: Place): void {
    this.#remove(place);
    const retryAfterMs = timeFor([...this.#waiting, ...this.#running], this.#workers);
    place.reject(
      new ServiceError("overloaded", "Too many images are waiting to be rendered.", { retryAfterMs }),
    );
  }
}

/** Predicted milliseconds until the work is done. */
function timeFor(work: readonly QueuedWork[], workers: number): number {
  const totalMs = work.reduce((sum, { predictedMs }) => sum + predictedMs, 0);
  return Math.round(Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, totalMs / workers)));
}
