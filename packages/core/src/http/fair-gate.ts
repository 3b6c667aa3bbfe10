import { isError } from "../errors.ts";

/** One of the places of a {@link FairGate}, held by a client. */
export interface Slot {
  /** Aborts if the gate takes the slot back, because its client has most of them and another client has none. */
  readonly signal: AbortSignal;
  /** Puts the client behind others, by what it used: bytes, or milliseconds. All slots of a gate count in one unit. */
  charge(units: number): void;
  /** Frees the slot. Calling it twice is allowed. */
  leave(): void;
}

export interface GateOptions {
  /** Slots held at once. */
  slots: number;
  /** Entries that wait. If more arrive, the client with most slots and entries loses its newest entry. @default no limit */
  maxQueue?: number;
  /** Whether a client that has more than its share loses slots to clients that wait. @default false */
  isPreemptive?: boolean;
  /**
   * The last free slot of several is kept from a client for a minute after it was charged more for one slot. A client that was not
   * charged yet gets it if it holds no other. @default no limit
   */
  cheapUnits?: number;
  /** The error for an entry that gets no slot. */
  refuse(why: GateRefusal): Error;
}

export interface EntryOptions {
  signal: AbortSignal;
  maxWaitMs: number;
  /** Slots that the client holds before this entry waits. @default no limit */
  maxSlots?: number;
  /** Entries of the client that may wait. If more do, the newest is refused. @default no limit */
  maxQueue?: number;
}

export interface GateRefusal {
  /** Whether the client has too many entries. Otherwise all clients together have, or the entry waited too long. */
  isOwn: boolean;
  /** What the entries in question may be charged, for each slot that serves them; by the mean of past charges. */
  expectedUnits: number;
}

interface Client {
  /** Each with the controller of its signal. Both are in order of arrival. */
  slots: Map<Slot, AbortController>;
  queue: Set<Entry>;
  /** Virtual time at which its next slot starts: the start of its last slot, plus what it was charged since. */
  start: number;
  /** When the client may get the last slot again, of those that it was charged; `null`: it was not charged yet. */
  cheapFromMs: number | null;
}

interface Entry {
  sinceMs: number;
  maxSlots: number;
  maxQueue: number;
  settle(outcome: Slot | Error): void;
}

const UNLIMITED = Number.POSITIVE_INFINITY;
/** Known clients without slot and entry. Beyond, their charges are forgotten. */
const MAX_IDLE = 1024;
/** Part of the slots that one client keeps while others wait. */
const SHARE = 1 / 4;
/** Entries that waited longer get every fourth slot. */
const OLD_MS = 10_000;
const OLDEST_EVERY = 4;
/** How long the last slot is kept from a costly client. */
const COSTLY_MS = 60_000;
/** Weight of the newest charge in the mean. */
const NEWEST_WEIGHT = 1 / 8;

/**
 * Decides who waits: it gives a bounded number of slots to clients. The client that was charged least comes first (start-time fair
 * queueing); costs are charged after they were measured. An idle client saves no credit: it continues at the virtual time of those
 * that were served meanwhile.
 */
export class FairGate {
  readonly #options: GateOptions;
  readonly #share: number;
  /** In the order in which they came, the first time or after they were idle. */
  readonly #clients = new Map<string, Client>();
  #held = 0;
  #waiting = 0;
  #virtualTime = 0;
  #meanCharge = 0;
  #given = 0;
  #isScheduled = false;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#share = Math.max(1, Math.floor(options.slots * SHARE));
  }

  /** Number of slots held, and of entries that wait. */
  get state(): { held: number; waiting: number } {
    return { held: this.#held, waiting: this.#waiting };
  }

  /** Whether a client waits other than these. */
  othersWait(...names: readonly string[]): boolean {
    const own = names.reduce((sum, name) => sum + (this.#clients.get(name)?.queue.size ?? 0), 0);
    return this.#waiting > own;
  }

  /** Waits for a slot. Rejects with the signal's reason, and with the error of `refuse`. */
  enter(name: string, given: EntryOptions): Promise<Slot> {
    const { signal, maxWaitMs, maxSlots = UNLIMITED, maxQueue = UNLIMITED } = given;
    if (signal.aborted) return Promise.reject(signal.reason);
    const client = this.#clientOf(name);
    return new Promise((resolve, reject) => {
      const entry: Entry = {
        sinceMs: performance.now(),
        maxSlots,
        maxQueue,
        settle: (outcome) => {
          client.queue.delete(entry);
          this.#waiting--;
          clearTimeout(timer);
          signal.removeEventListener("abort", abandon);
          if (isError(outcome)) reject(outcome);
          else resolve(outcome);
        },
      };
      const abandon = (): void => {
        reject(signal.reason);
        entry.settle(new Error("The client left"));
      };
      const timer = setTimeout(() => entry.settle(this.#refusal(client, false)), maxWaitMs);
      signal.addEventListener("abort", abandon);
      client.queue.add(entry);
      this.#waiting++;
      this.#schedule();
    });
  }

  #clientOf(name: string): Client {
    const known = this.#clients.get(name);
    const client = known ?? { slots: new Map(), queue: new Set(), start: 0, cheapFromMs: null };
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

  /** Deferred, so that everything else ready in this round of the event loop comes first. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#waiting > 0 && this.#giveNext());
      this.#trim();
      if (this.#held + this.#waiting > 0) return;
      // Charges matter only among clients that compete.
      this.#clients.clear();
      this.#virtualTime = 0;
    });
  }

  /**
   * Gives the next slot. If all are held, a preemptive gate preempts the newest slot of the client with the most. It does so for a client
   * without slots, or if the largest client exceeds its share. The difference must be two slots: with one, the two clients
   * would preempt each other alternately.
   * @returns whether a slot was given.
   */
  #giveNext(): boolean {
    const { slots, isPreemptive = false } = this.#options;
    const isFull = this.#held >= slots;
    if (isFull && !isPreemptive) return false;
    const clients = [...this.#clients.values()];
    const largest = isFull ? first(clients, (a, b) => b.slots.size - a.slots.size) : undefined;
    const mayEnter = (client: Client) => {
      const [entry] = client.queue;
      if (entry === undefined || client.slots.size >= entry.maxSlots) return false;
      if (largest === undefined) return this.#held < slots - 1 || slots === 1 || this.#mayTakeLast(client);
      const most = largest.slots.size;
      return most > client.slots.size + 1 && (client.slots.size === 0 || most > this.#share);
    };
    const next = this.#first(clients.filter(mayEnter));
    const [entry] = next?.queue ?? [];
    if (next === undefined || entry === undefined) return false;
    const [slot, controller] = [...(largest?.slots ?? [])].at(-1) ?? [];
    slot?.leave();
    controller?.abort(new Error("The slot was preempted for another client"));
    this.#virtualTime = Math.max(this.#virtualTime, next.start);
    entry.settle(this.#slotOf(next));
    return true;
  }

  #mayTakeLast({ slots, cheapFromMs }: Client): boolean {
    if (this.#options.cheapUnits === undefined) return true;
    return cheapFromMs === null ? slots.size === 0 : performance.now() >= cheapFromMs;
  }

  /** The client that gets the next slot: the one that was charged least. Every fourth slot goes to the oldest entry, so none starves. */
  #first(candidates: readonly Client[]): Client | undefined {
    const sinceMs = ({ queue }: Client) => [...queue][0]?.sinceMs ?? Number.POSITIVE_INFINITY;
    if (this.#given % OLDEST_EVERY === OLDEST_EVERY - 1) {
      const oldest = first(candidates, (a, b) => sinceMs(a) - sinceMs(b));
      if (oldest !== undefined && performance.now() - sinceMs(oldest) > OLD_MS) return oldest;
    }
    const excess = ({ slots }: Client) => (slots.size < this.#share ? 0 : 1);
    return first(
      candidates,
      (a, b) => excess(a) - excess(b) || a.start - b.start || a.slots.size - b.slots.size,
    );
  }

  #slotOf(client: Client): Slot {
    const controller = new AbortController();
    let charged = 0;
    const slot: Slot = {
      signal: controller.signal,
      charge(units) {
        client.start += units;
        charged += units;
      },
      leave: () => {
        if (!client.slots.delete(slot)) return;
        this.#held--;
        this.#schedule();
        // A slot that was not used tells nothing of its client.
        if (charged === 0) return;
        const isCheap = charged <= (this.#options.cheapUnits ?? UNLIMITED);
        client.cheapFromMs = Math.max(client.cheapFromMs ?? 0, isCheap ? 0 : performance.now() + COSTLY_MS);
        this.#meanCharge += (charged - this.#meanCharge) * NEWEST_WEIGHT;
      },
    };
    client.slots.set(slot, controller);
    this.#held++;
    this.#given++;
    return slot;
  }

  /** Refuses entries beyond the limits. Of clients with equally many, the one that was charged most loses, else the newest. */
  #trim(): void {
    for (const client of this.#clients.values()) {
      for (const [index, entry] of [...client.queue].entries()) {
        if (index >= entry.maxQueue) entry.settle(this.#refusal(client, true));
      }
    }
    while (this.#waiting > (this.#options.maxQueue ?? UNLIMITED)) {
      const clients = [...this.#clients.values()].filter(({ queue }) => queue.size > 0).reverse();
      const size = (client: Client) => client.slots.size + client.queue.size;
      const loser = first(clients, (a, b) => size(b) - size(a) || b.start - a.start);
      if (loser === undefined) return;
      const entries = [...loser.queue];
      const newest = entries.at(-1);
      newest?.settle(this.#refusal(loser, entries.length > 1 && newest.maxQueue !== UNLIMITED));
    }
  }

  #refusal({ queue }: Client, isOwn: boolean): Error {
    const { slots, refuse } = this.#options;
    const [{ maxSlots = slots } = {}] = queue;
    const entries = isOwn ? queue.size - 1 : this.#waiting - 1 + this.#held;
    return refuse({
      isOwn,
      expectedUnits: (this.#meanCharge * entries) / (isOwn ? Math.min(slots, maxSlots) : slots),
    });
  }
}

function isIdle({ slots, queue }: Client): boolean {
  return slots.size + queue.size === 0;
}

/** The first item in this order; of equal ones the first in the list. */
function first<T>(items: readonly T[], order: (a: T, b: T) => number): T | undefined {
  return items.reduce<T | undefined>(
    (best, each) => (best === undefined || order(each, best) < 0 ? each : best),
    undefined,
  );
}
