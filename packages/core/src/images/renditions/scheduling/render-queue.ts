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
  /** Pictures rendered at once. */
  workers: number;
  /** Work of all clients that may wait. */
  maxQueue: number;
  /** Whether to limit the work of one client in line and under way. @default true */
  boundsClients?: boolean;
  /** Milliseconds of a clock that is never set back. @default performance.now */
  nowMs?: () => number;
}

/** What work gets when it begins. */
export interface Begun {
  /** The client whose turn it is, and which is charged. */
  client: string;
  /** Reports the cost of the work. @default the time that it took */
  onCost(cpuMs: number): void;
}

/** Serves the clients of a renderer in turns; see {@link createQueueOrder} for the rules. */
export interface RenderQueue {
  /**
   * Does the work at its turn. Rejects as the work does, and
   * - with `rate_limited` when its client has too much in line, or the longest line while another client needs a place,
   * - with `overloaded` when the line is full of clients with one place each, and none of the others used more,
   * - with the signal's reason when that is aborted before the work begins.
   */
  run<T>(asked: QueuedWork & { signal: AbortSignal }, work: (begun: Begun) => Promise<T>): Promise<T>;
  /** Adds a client to those that wait for some work, which then runs in the best turn of them. */
  join(claim: Claim, client: string): void;
  /** Whether work of another client waits. */
  othersWait(client: string): boolean;
  /** Work at this moment. */
  state(): { waiting: number; running: number };
}

/** Work of one client that may wait. Background work is bounded by its own line. */
const MAX_WAITING: Record<WorkKind, number> = { render: 8, admit: 16, background: Number.POSITIVE_INFINITY };
const MIN_RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 60_000;

interface Place extends WaitingWork {
  /** The client that came first, and in whose line it waits. */
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
        // The end of other work begins it, but it belongs to the request that asked for it.
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

  /** Counts a client as present before it adds to the line. */
  #enter(client: string): void {
    const present = new Set([...this.#running].map((work) => work.client));
    for (const { claim } of this.#waiting) for (const each of claim.clients) present.add(each);
    if (!present.has(client)) this.#use.enter(client, present);
  }

  #remove(place: Place): void {
    const index = this.#waiting.indexOf(place);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /** Rejects the newcomer, or the place that it gets, if there are too many. */
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

  /** The line of the client with the most places; `own` if no other is longer. */
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

  /** Of a line in which each client has one place, that of the client that used the most, else the newcomer. */
  #mostUsing(newcomer: Place): Place {
    const use = this.#use;
    let most = newcomer;
    for (const place of this.#waiting) if (use.of(place.owner) > use.of(most.owner)) most = place;
    return most;
  }

  /** Rejects with 429 until the work of its client in line will be done. */
  #rejectAsTooMany(place: Place): void {
    this.#remove(place);
    const line = this.#waiting.filter(({ owner }) => owner === place.owner);
    const retryAfterMs = timeFor(line, Math.min(2, this.#workers));
    place.reject(
      new ServiceError("rate_limited", "You have too many images waiting to be rendered.", { retryAfterMs }),
    );
  }

  /** Rejects with 503 until all present work will be done. */
  #rejectAsFull(place: Place): void {
    this.#remove(place);
    const retryAfterMs = timeFor([...this.#waiting, ...this.#running], this.#workers);
    place.reject(
      new ServiceError("overloaded", "Too many images are waiting to be rendered.", { retryAfterMs }),
    );
  }
}

/** Milliseconds until the work is done by its prediction. */
function timeFor(work: readonly QueuedWork[], workers: number): number {
  const totalMs = work.reduce((sum, { predictedMs }) => sum + predictedMs, 0);
  return Math.round(Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, totalMs / workers)));
}
