import { isSettledWithin } from "../async/settled-within.ts";
import type { Logger } from "../contracts/logger.ts";
import { DELIVERY_MS } from "./webhooks.ts";

/** 30 s to 5 min, so that many events do not come together again. */
export function later(): number {
  return 30_000 + Math.random() * 270_000;
}

/** Deliveries of events that waited to one receiver at a time. After this many failures in succession, a webhook gets only one. */
const AT_ONCE = 16;
const FAILING = 5;
/** Most delay for events behind a webhook that fails, as a multiple of {@link later}: an hour, after an hour of failures. */
const MAX_GROWTH = 12;

/** A receiver that gets few deliveries at a time. */
export interface Throttled<E> {
  /** For an event that waited: `0`: it may get it now. Else the delay until a node should look again, in milliseconds. */
  delayMs(): number;
  /** Rejects if the event did not arrive before `signal` aborts. */
  deliver(event: E, signal: AbortSignal): Promise<void>;
}

/** @param now Clock of a webhook. @default the receiver is code: its failures slow nothing */
export function throttled<E>(deliver: Throttled<E>["deliver"], now?: () => number): Throttled<E> {
  let running = 0;
  let failures = 0;
  let failingSince = 0;
  return {
    delayMs() {
      if (now === undefined || failures < FAILING) return running < AT_ONCE ? 0 : later() / 15;
      if (running === 0) return 0;
      // Each look at an event is a write.
      const growth = (now() - failingSince) / (5 * 60_000);
      return later() * Math.min(Math.max(1, growth), MAX_GROWTH);
    },
    async deliver(event, signal) {
      running++;
      try {
        await deliver(event, signal);
        failures = 0;
      } catch (error) {
        if (failures === 0) failingSince = now?.() ?? 0;
        failures++;
        throw error;
      } finally {
        running--;
      }
    },
  };
}

/** Events that wait for their delivery. */
export interface Backlog {
  /** What has undelivered events, in number. */
  waiting: number;
  /** When the oldest of these events happened, in Unix milliseconds; `null`: none waits. */
  oldestAt: number | null;
}

/** How a process finds the events that others left. */
export interface EventPoll {
  everyMs: number;
  /** Whether this process delivers any. */
  isNeeded(): boolean;
  /** Begins to deliver what is due. @returns whether more is due */
  look(): Promise<boolean>;
  count(): Promise<Backlog>;
}

export interface DeliveriesOptions {
  now(): number;
  onError(error: unknown): void;
  log: Pick<Logger, "warn"> | undefined;
}

const FULL_POLL_MS = 20;
const RETRY_POLL_MS = 5_000;
const COUNT_EVERY_MS = 30_000;
const CLOSE_MS = 3_000;

/** The deliveries of one kind of events by this process, until it is closed. */
export class Deliveries {
  /** The last count, if this process polls. */
  backlog: Backlog = { waiting: 0, oldestAt: null };
  /** Events that this process gave up. */
  dead = 0;
  isClosing = false;
  readonly #options: DeliveriesOptions;
  readonly #aborts = new Set<AbortController>();
  readonly #tasks = new Set<Promise<void>>();
  #poll: EventPoll | null = null;
  #timer: NodeJS.Timeout | undefined;
  #countAt = 0;
  #isFailing = false;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  /** Age of the oldest undelivered event, in seconds. `0`: none waits. */
  get oldestSeconds(): number {
    const { oldestAt } = this.backlog;
    return oldestAt === null ? 0 : Math.max(0, (this.#options.now() - oldestAt) / 1000);
  }

  /** Runs a task that is awaited by {@link close}. Its failure goes to `onError`. */
  track(task: Promise<void>): void {
    const tracked = task.catch(this.#options.onError).finally(() => this.#tasks.delete(tracked));
    this.#tasks.add(tracked);
  }

  /** One attempt, with the time limit {@link DELIVERY_MS}. @returns `null`: it succeeded */
  async attempt<E extends { id: string; type: string }>(
    { host, deliver }: Throttled<E> & { host: string | null },
    event: E,
  ): Promise<{ error: unknown } | null> {
    const controller = new AbortController();
    const late = () => controller.abort(new Error(`the event was not taken within ${DELIVERY_MS} ms`));
    const timer = setTimeout(late, DELIVERY_MS).unref();
    this.#aborts.add(controller);
    try {
      await deliver(event, controller.signal);
      return null;
    } catch (error) {
      const { log, onError } = this.#options;
      const { id, type } = event;
      if (this.isClosing) return { error };
      if (host === null) onError(error);
      else log?.warn({ event: id, type, host, why: String(error) }, "webhook failed");
      return { error };
    } finally {
      clearTimeout(timer);
      this.#aborts.delete(controller);
    }
  }

  /** Reports an event that is given up. @param of What it is about. */
  bury({ id, type }: { id: string; type: string }, of: string, receiver: string): void {
    this.dead++;
    const what = `The event ${id} (${type} of ${of})`;
    this.#options.onError(new Error(`${what} was given up: ${receiver} did not take it`));
  }

  /** Looks for due events now and from time to time, while that is needed. */
  startPolling(poll: EventPoll): void {
    this.#poll = poll;
    this.pollIn(0);
  }

  /** Brings the next look forward. */
  pollIn(ms: number): void {
    if (this.isClosing || !this.#poll?.isNeeded()) return;
    clearTimeout(this.#timer);
    const { look, count, everyMs } = this.#poll;
    this.#timer = setTimeout(() => this.track(this.#look(look, count, everyMs)), ms).unref();
  }

  async #look(look: EventPoll["look"], count: EventPoll["count"], everyMs: number): Promise<void> {
    let pauseMs = everyMs;
    try {
      if (await look()) pauseMs = FULL_POLL_MS;
      if (performance.now() >= this.#countAt) {
        this.#countAt = performance.now() + COUNT_EVERY_MS;
        this.backlog = await count();
      }
      this.#isFailing = false;
    } catch (error) {
      // The first of several failures.
      if (!this.#isFailing) this.#options.onError(error);
      this.#isFailing = true;
      pauseMs = Math.max(RETRY_POLL_MS, everyMs);
    }
    this.pollIn(pauseMs);
  }

  /** Waits a moment for deliveries under way, and leaves all others to other processes. */
  async close(): Promise<void> {
    this.isClosing = true;
    clearTimeout(this.#timer);
    await isSettledWithin(Promise.all(this.#tasks), CLOSE_MS);
    for (const controller of this.#aborts) controller.abort(new Error("The service is closed"));
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }
}
