import { randomBytes } from "node:crypto";
import { isSettledWithin } from "../../async/settled-within.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { ListEnd, ListEnds, TakenEnd, VerificationQueue } from "../../contracts/verification-queue.ts";
import { Attempts, later, type Throttled, throttled } from "../../http/deliveries.ts";
import {
  backOffMs,
  ReceiverGone,
  UNDELIVERED_MS,
  type Webhook,
  type WebhookMessage,
} from "../../http/webhooks.ts";
import { LOOKUP_EVENT_TYPES } from "../lookup-options.ts";
import { listedRow } from "./row-result.ts";

const [DONE] = LOOKUP_EVENT_TYPES;

/** After this time without a write, another process delivers. Longer than counting a list and one delivery take. */
const LEASE_MS = 30_000;
const POLL_MS = 5_000;
const COUNT_EVERY_MS = 30_000;
const TAKEN_AT_ONCE = 100;
const PAGE_ROWS = 1000;
/** Time for which an event waits for a process that knows its receiver, such as while a new configuration is rolled out. */
const UNKNOWN_KEPT_MS = 60 * 60_000;
const CLOSE_MS = 3_000;

/** What a list stores of its event. */
interface EndState {
  id: string;
  /** Rows by their status, counted at the first attempt. */
  counts: Record<string, number> | null;
  /** Receivers that have not got it: failed attempts, and when the next one is due. */
  waiting: Record<string, { tries: number; at: number }>;
}

export interface ListEventsOptions {
  queue: VerificationQueue;
  /** `null`: this process has none, and leaves all events to others. */
  webhooks: readonly Webhook[] | null;
  now(): number;
  onError(error: unknown): void;
  log: Pick<Logger, "warn"> | undefined;
}

interface Destination extends Throttled<WebhookMessage>, Pick<Webhook, "host" | "takes"> {}

/** Delivers the events of finished lists, under a lease in each list. */
export class ListEvents {
  /** The last count, if this process delivers. */
  backlog: Pick<ListEnds, "waiting" | "oldestAt"> = { waiting: 0, oldestAt: null };
  /** Events that this process gave up. */
  dead = 0;
  readonly #options: ListEventsOptions;
  readonly #destinations: ReadonlyMap<string, Destination>;
  readonly #attempts = new Attempts();
  readonly #tasks = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #countAt = 0;
  #isFailing = false;
  #isClosing = false;

  constructor(options: ListEventsOptions) {
    this.#options = options;
    this.#destinations = new Map(
      (options.webhooks ?? []).map(({ name, host, takes, send }) => {
        return [name, { host, takes, ...throttled(send, options.now) }];
      }),
    );
    if (options.webhooks !== null) this.#pollIn(0);
  }

  /** The event of a list that ends now; `undefined`: it has no receiver. */
  end(): ListEnd | undefined {
    const takers = [...this.#destinations].filter(([, { takes }]) => takes(DONE));
    if (takers.length === 0) return undefined;
    const waiting = Object.fromEntries(takers.map(([name]) => [name, { tries: 0, at: 0 }]));
    const state: EndState = { id: `evt_${randomBytes(16).toString("base64url")}`, counts: null, waiting };
    return { at: this.#options.now(), state: JSON.stringify(state) };
  }

  /** Age of the oldest undelivered event, in seconds. `0`: none waits. */
  get oldestSeconds(): number {
    const { oldestAt } = this.backlog;
    return oldestAt === null ? 0 : Math.max(0, (this.#options.now() - oldestAt) / 1000);
  }

  /** Waits a moment for deliveries under way, and leaves all others to other processes. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    await isSettledWithin(Promise.all(this.#tasks), CLOSE_MS);
    this.#attempts.abort();
    await Promise.all(this.#tasks);
  }

  #pollIn(ms: number): void {
    if (!this.#isClosing) this.#timer = setTimeout(() => this.#track(this.#poll()), ms).unref();
  }

  /** Reports the failure of a task. */
  #track(task: Promise<void>): void {
    const tracked = task.catch(this.#options.onError).finally(() => this.#tasks.delete(tracked));
    this.#tasks.add(tracked);
  }

  async #poll(): Promise<void> {
    const { queue, now, onError } = this.#options;
    let isFull = false;
    try {
      const taken = await queue.takeEnds(TAKEN_AT_ONCE, LEASE_MS, now());
      isFull = taken.length === TAKEN_AT_ONCE;
      // One that hangs delays no other.
      for (const end of taken) this.#track(this.#deliver(end));
      if (performance.now() >= this.#countAt) {
        this.#countAt = performance.now() + COUNT_EVERY_MS;
        this.backlog = await queue.countEnds();
      }
      this.#isFailing = false;
    } catch (error) {
      // The first of several failures.
      if (!this.#isFailing) onError(error);
      this.#isFailing = true;
    }
    this.#pollIn(isFull ? 20 : POLL_MS);
  }

  /** Tries every receiver that is due, at the same time. */
  async #deliver(end: TakenEnd): Promise<void> {
    const { queue, now } = this.#options;
    const state: EndState = JSON.parse(end.state); // Written by this class.
    const { waiting } = state;
    const isOld = now() - end.at >= UNDELIVERED_MS;
    let isDead = false;
    const due = Object.entries(waiting).filter(([, { at }]) => at <= now());
    const attempts = due.map(([name, { tries }]) => async (message: WebhookMessage) => {
      const destination = this.#destinations.get(name);
      const delayMs = destination?.delayMs() ?? later();
      const isRemoved = destination === undefined && now() - end.at >= UNKNOWN_KEPT_MS;
      if (!isRemoved && (destination === undefined || delayMs > 0 || this.#isClosing)) {
        waiting[name] = { tries, at: now() + (this.#isClosing ? 0 : delayMs) };
        return;
      }
      const failure = destination === undefined ? {} : await this.#attempt(destination, message);
      if (failure === null || isRemoved || isOld || failure.error instanceof ReceiverGone)
        delete waiting[name];
      else waiting[name] = { tries: tries + 1, at: now() + (this.#isClosing ? 0 : backOffMs(tries + 1)) };
      if (failure === null || waiting[name] !== undefined) return;
      isDead = true;
      this.#bury(state.id, end.list, destination?.host ?? name);
    });
    state.counts ??= await countByStatus(queue, end);
    const message = messageOf(end, state.id, state.counts);
    await Promise.all(attempts.map((attempt) => attempt(message)));
    const times = Object.values(waiting).map(({ at }) => at);
    const dueMs = times.length === 0 ? null : Math.ceil(Math.min(...times));
    await queue.settleEnd(end, { state: JSON.stringify(state), dueMs, isDead });
  }

  /** @returns `null`: it succeeded */
  async #attempt(destination: Destination, message: WebhookMessage): Promise<{ error?: unknown } | null> {
    try {
      await this.#attempts.run(destination, message);
      return null;
    } catch (error) {
      const { host } = destination;
      if (!this.#isClosing) {
        this.#options.log?.warn(
          { event: message.id, type: DONE, host, why: String(error) },
          "webhook failed",
        );
      }
      return { error };
    }
  }

  #bury(id: string, list: string, receiver: string): void {
    this.dead++;
    const what = `The event ${id} (${DONE} of list ${list})`;
    this.#options.onError(new Error(`${what} was given up: ${receiver} did not take it`));
  }
}

async function countByStatus(
  queue: VerificationQueue,
  { list, total }: TakenEnd,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let offset = 0; offset < total; offset += PAGE_ROWS) {
    for (const row of await queue.rows(list, { offset, limit: PAGE_ROWS })) {
      const { status } = listedRow(row);
      if (status !== null) counts[status] = (counts[status] ?? 0) + 1;
    }
  }
  return counts;
}

/** The event as it is sent: no address, and nothing of the rows but their number. */
function messageOf(
  { list, account, total, at }: TakenEnd,
  id: string,
  counts: Record<string, number>,
): WebhookMessage {
  return { id, type: DONE, at, data: { list: { id: list, account, status: "done", total, counts } } };
}
