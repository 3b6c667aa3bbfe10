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
  /** In order of arrival. */
  visits: Set<HeldPlace>;
  /** In order of arrival. Each is called with a place, or with `null`. */
  waiting: Set<(visit: HeldPlace | null) => void>;
  /** Virtual time at which its next visit starts: the start of its last visit, plus what it was charged since. */
  start: number;
}

interface HeldPlace extends Visit {
  takeBack(): void;
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
      const settle = (visit: HeldPlace | null): void => {
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
    const client = this.#clients.get(name) ?? { visits: new Set(), waiting: new Set(), start: 0 };
    if (isIdle(client)) client.start = Math.max(client.start, this.#virtualTime);
    if (this.#clients.size >= MAX_IDLE) {
      for (const [known, each] of this.#clients) if (isIdle(each)) this.#clients.delete(known);
    }
    this.#clients.set(name, client);
    return client;
  }

  #refuseOne(): void {
    const waiting = [...this.#clients.values()].filter((client) => client.waiting.size > 0);
    const loser = first(waiting, (a, b) => b.visits.size + b.waiting.size - a.visits.size - a.waiting.size);
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

  /** @returns whether a visit has begun. */
  #admitNext(): boolean {
    const waiting = [...this.#clients.values()].filter((client) => client.waiting.size > 0);
    const excess = (client: Client) => (client.visits.size < this.#share ? 0 : 1);
    const next = first(
      waiting,
      (a, b) => excess(a) - excess(b) || a.start - b.start || a.visits.size - b.visits.size,
    );
    if (next === undefined || (this.#held >= this.#places && !this.#takeBackFor(next))) return false;
    const [settle] = next.waiting;
    this.#virtualTime = Math.max(this.#virtualTime, next.start);
    settle?.(this.#place(next));
    return true;
  }

  /** Takes back the newest place of the client with most places, if that has too many. */
  #takeBackFor(next: Client): boolean {
    const largest = first([...this.#clients.values()], (a, b) => b.visits.size - a.visits.size);
    const isLarge = largest !== undefined && largest !== next && largest.visits.size > 1;
    if (!isLarge || !(next.visits.size === 0 || largest.visits.size > this.#share)) return false;
    [...largest.visits].at(-1)?.takeBack();
    return true;
  }

  #place(client: Client): HeldPlace {
    const taken = new AbortController();
    const leave = (): void => {
      if (!client.visits.delete(visit)) return;
      this.#held--;
      this.#schedule();
    };
    const takeBack = (): void => {
      leave();
      taken.abort(new Error("The place was taken back for another client"));
    };
    const charge = (units: number): void => {
      client.start += units;
    };
    const visit: HeldPlace = { signal: taken.signal, charge, leave, takeBack };
    client.visits.add(visit);
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
