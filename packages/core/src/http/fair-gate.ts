/** A place of a {@link FairGate}. */
export interface Visit {
  /** Aborts if the gate takes the place back, because its client has most of them and another client has none. */
  readonly signal: AbortSignal;
  /** Puts the client behind others, by what the visit has cost: all visits of a gate count in one unit. */
  charge(units: number): void;
  /** Frees the place. Calling it twice is allowed. */
  leave(): void;
}

interface Client {
  /** In order of arrival, each with the controller of its signal. */
  visits: Map<Visit, AbortController>;
  /** In order of arrival. Each is called with a place, or with `null`. */
  waiting: Set<(visit: Visit | null) => void>;
  /** Virtual time at which its next visit starts: the start of its last visit, plus what it was charged since. */
  start: number;
}

/** Clients that are known without a visit; beyond, their charges are forgotten. */
const MAX_IDLE = 1024;
/** Part of the places that one client keeps while others wait. */
const SHARE = 1 / 4;

/**
 * Lets a bounded number of visits in. The client that was charged least comes first (start-time fair queueing). An idle
 * client saves no credit: it continues at the virtual time of those that were served meanwhile.
 */
export class FairGate {
  readonly #places: number;
  readonly #maxWaiting: number;
  readonly #share: number;
  /** In the order in which they came, the first time or after they were idle. */
  readonly #clients = new Map<string, Client>();
  #held = 0;
  #waiting = 0;
  #virtualTime = 0;
  #isScheduled = false;

  /**
   * @param places Maximum number of visits at once.
   * @param maxWaiting Maximum number of visits that wait. If more arrive, the client with most visits loses its newest.
   */
  constructor(places: number, maxWaiting: number) {
    this.#places = places;
    this.#maxWaiting = maxWaiting;
    this.#share = Math.max(1, Math.floor(places * SHARE));
  }

  /**
   * Waits for a place. Rejects with the signal's reason.
   * @returns `null`: the line is full, or the visit waited for `longestWaitMs`.
   */
  enter(name: string, given: { signal: AbortSignal; longestWaitMs: number }): Promise<Visit | null> {
    const { signal, longestWaitMs } = given;
    if (signal.aborted) return Promise.reject(signal.reason);
    const client = this.#clientOf(name);
    return new Promise((resolve, reject) => {
      const settle = (visit: Visit | null): void => {
        client.waiting.delete(settle);
        this.#waiting--;
        clearTimeout(timer);
        signal.removeEventListener("abort", abandon);
        resolve(visit);
      };
      const abandon = (): void => {
        reject(signal.reason);
        settle(null);
      };
      const timer = setTimeout(settle, longestWaitMs, null);
      signal.addEventListener("abort", abandon);
      client.waiting.add(settle);
      this.#waiting++;
      if (this.#waiting > this.#maxWaiting) this.#refuseOne();
      this.#schedule();
    });
  }

  #clientOf(name: string): Client {
    const client = this.#clients.get(name) ?? { visits: new Map(), waiting: new Set(), start: 0 };
    if (isIdle(client)) {
      client.start = Math.max(client.start, this.#virtualTime);
      this.#clients.delete(name);
    }
    if (this.#clients.size >= MAX_IDLE) {
      for (const [known, each] of this.#clients) if (isIdle(each)) this.#clients.delete(known);
    }
    this.#clients.set(name, client);
    return client;
  }

  /** Of clients with equally many visits, the newest loses. */
  #refuseOne(): void {
    const waiting = [...this.#clients.values()].filter((client) => client.waiting.size > 0);
    const size = ({ visits, waiting }: Client) => visits.size + waiting.size;
    const loser = first(waiting.reverse(), (a, b) => size(b) - size(a));
    [...(loser?.waiting ?? [])].at(-1)?.(null);
  }

  /** Deferred, so that everything else ready in this round of the event loop comes first. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#waiting > 0 && this.#admitNext());
      if (this.#held + this.#waiting > 0) return;
      // Charges matter only among clients that compete.
      this.#clients.clear();
      this.#virtualTime = 0;
    });
  }

  /**
   * Without a free place, takes back the newest place of the client with most: for a client that has none, or if it has
   * more than its share. It must have two more than the other: otherwise both would take back the same place by turns.
   * @returns whether a visit has begun.
   */
  #admitNext(): boolean {
    const clients = [...this.#clients.values()];
    const isFull = this.#held >= this.#places;
    const largest = isFull ? first(clients, (a, b) => b.visits.size - a.visits.size) : undefined;
    const most = largest?.visits.size ?? Infinity;
    const mayEnter = ({ visits: { size } }: Client) => most > size + 1 && (size === 0 || most > this.#share);
    const excess = ({ visits }: Client) => (visits.size < this.#share ? 0 : 1);
    const next = first(
      clients.filter((client) => client.waiting.size > 0 && mayEnter(client)),
      (a, b) => excess(a) - excess(b) || a.start - b.start || a.visits.size - b.visits.size,
    );
    if (next === undefined) return false;
    const [visit, controller] = [...(largest?.visits ?? [])].at(-1) ?? [];
    visit?.leave();
    controller?.abort(new Error("The place was taken back for another client"));
    const [settle] = next.waiting;
    this.#virtualTime = Math.max(this.#virtualTime, next.start);
    settle?.(this.#place(next));
    return true;
  }

  #place(client: Client): Visit {
    const controller = new AbortController();
    const visit: Visit = {
      signal: controller.signal,
      charge(units) {
        client.start += units;
      },
      leave: () => {
        if (!client.visits.delete(visit)) return;
        this.#held--;
        this.#schedule();
      },
    };
    client.visits.set(visit, controller);
    this.#held++;
    return visit;
  }
}

function isIdle({ visits, waiting }: Client): boolean {
  return visits.size + waiting.size === 0;
}

/** The first item in this order; of equal ones the first in the list. */
function first<T>(items: readonly T[], order: (a: T, b: T) => number): T | undefined {
  return items.reduce<T | undefined>(
    (best, each) => (best === undefined || order(each, best) < 0 ? each : best),
    undefined,
  );
}
