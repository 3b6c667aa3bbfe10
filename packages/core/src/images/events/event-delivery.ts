import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { isSettledWithin } from "../../async/settled-within.ts";
import type { Logger } from "../../contracts/logger.ts";
import { isServiceError } from "../../errors.ts";
import { Attempts, later } from "../../http/deliveries.ts";
import { backOffMs, ReceiverGone, UNDELIVERED_MS } from "../../http/webhooks.ts";
import type { DueList } from "../../stores/due-list.ts";
import type { Outbox, StoredEvent } from "../record/image-record.ts";
import type { CurrentRecord, ImageRecords } from "../record/image-records.ts";
import * as outboxes from "../record/outbox.ts";
import type { EventDestination } from "./destinations.ts";
import { type EventEntries, LEASE_MS } from "./event-entries.ts";

/** Most clock difference between machines that share a store. */
const MAX_SKEW_MS = 60_000;
const CLOSE_MS = 3_000;
/** Attempts of a write. Losing this often cannot be due to concurrent writers alone. */
export const MAX_ATTEMPTS = 100;

export interface EventDeliveryOptions {
  entries: EventEntries;
  /** By name. */
  destinations: ReadonlyMap<string, EventDestination>;
  /** Images with events that were given up, by that time. */
  dead: DueList;
  records(): ImageRecords;
  now(): number;
  onError(error: unknown): void;
  log: Logger;
}

/** Delivers the events in the records of images, under a lease in each record. */
export class EventDelivery {
  /** Events that this process gave up. */
  dead = 0;
  readonly #options: EventDeliveryOptions;
  readonly #worker = randomUUID();
  /** Names of the destinations to which this process delivers an event of an image now. */
  readonly #lanes = new Map<string, Set<string>>();
  /** The last change of an image's outbox that this process stores. */
  readonly #settling = new Map<string, Promise<void>>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #attempts = new Attempts();
  #isClosing = false;

  constructor(options: EventDeliveryOptions) {
    this.#options = options;
  }

  /** Waits a moment for deliveries under way, and leaves all others to other processes. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await isSettledWithin(Promise.all(this.#tasks), CLOSE_MS);
    this.#attempts.abort();
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }

  /** Whether this process delivers an event of the image now. */
  isUnderWay(id: string): boolean {
    return this.#lanes.has(id);
  }

  /** Runs a task that is awaited by {@link close}. Its failure goes to `onError`. */
  track(task: Promise<void>): void {
    const tracked = task.catch(this.#options.onError).finally(() => this.#tasks.delete(tracked));
    this.#tasks.add(tracked);
  }

  /** Delivers events that no record has, once, and gives up those that fail. */
  deliverUnstored(events: readonly StoredEvent[]): void {
    for (const name of outboxes.waitingIn({ events })) {
      const waiting = events.filter(({ to }) => to.includes(name));
      this.track(this.#deliverOnce(name, waiting));
    }
  }

  async #deliverOnce(name: string, events: readonly StoredEvent[]): Promise<void> {
    const destination = this.#options.destinations.get(name);
    for (const event of events) {
      const isLost = destination === undefined || this.#isClosing;
      const failure = isLost ? {} : await this.#tryOnce(destination, event);
      if (failure !== null) this.bury([{ event, name }]);
    }
  }

  /** The outbox with a lease of this process, unless another one has it. */
  leased(outbox: Outbox): Outbox {
    if (this.isOthers(outbox)) return outbox;
    return { ...outbox, worker: this.#worker, leaseUntil: this.#options.now() + LEASE_MS };
  }

  /** Whether another node delivers these events. */
  isOthers({ worker, leaseUntil }: Outbox): boolean {
    const now = this.#options.now();
    // A time beyond the longest lease was written before the clock was set back.
    return worker !== this.#worker && leaseUntil > now && leaseUntil <= now + LEASE_MS + MAX_SKEW_MS;
  }

  /** Whether the node that delivered these events left them, without a release of its lease. */
  hasDied(outbox: Outbox): boolean {
    return outbox.worker !== null && outbox.worker !== this.#worker && !this.isOthers(outbox);
  }

  /** Begins what can be delivered of a record that was just written. */
  deliver(current: CurrentRecord): void {
    const { id, outbox } = current.record;
    if (outbox === undefined || this.isOthers(outbox)) return;
    for (const { destination, event } of this.#startable(id, outbox, null)) {
      const lanes = this.#lanes.get(id) ?? new Set();
      this.#lanes.set(id, lanes.add(destination.name));
      this.track(this.#run(current, destination, event));
    }
  }

  /** The deliveries that can begin now. @param ending A delivery that has an outcome. */
  #startable(id: string, outbox: Outbox, ending: string | null) {
    if (this.#isClosing) return [];
    const now = this.#options.now();
    return outboxes.waitingIn(outbox).flatMap((name) => {
      const destination = this.#options.destinations.get(name);
      const event = outboxes.oldestFor(outbox, name);
      const isUnderWay = name !== ending && this.#lanes.get(id)?.has(name) === true;
      const retry = outbox.retries[name];
      const isEarly = (retry?.at ?? 0) > now;
      if (destination === undefined || event === undefined || isUnderWay || isEarly) return [];
      const isNews = destination.host === null && retry === undefined && now - event.at < LEASE_MS;
      return isNews || destination.delayMs() === 0 ? [{ destination, event }] : [];
    });
  }

  /** @returns `null`: it succeeded */
  async #tryOnce(destination: EventDestination, event: StoredEvent): Promise<{ error: unknown } | null> {
    try {
      await this.#attempts.run(destination, event);
      return null;
    } catch (error) {
      this.#reportFailure(destination, event, error);
      return { error };
    }
  }

  /** One delivery. The next one to this destination begins when its outcome is stored. */
  async #run(current: CurrentRecord, destination: EventDestination, event: StoredEvent): Promise<void> {
    const { id } = current.record;
    const { name } = destination;
    const failure = await this.#tryOnce(destination, event);
    // The reply of the request that made the change goes first.
    await setImmediate();
    const isOld = this.#options.now() - event.at >= UNDELIVERED_MS;
    const isOver = failure === null || isOld || failure.error instanceof ReceiverGone;
    const dead = failure !== null && isOver ? [{ event, name }] : [];
    try {
      await this.settle(current, name, (outbox) => ({
        outbox: isOver ? outboxes.withoutEvent(outbox, event.id, name) : this.#failed(outbox, name),
        dead,
      }));
    } catch (error) {
      // The entry is still there.
      this.#endLane(id, name);
      throw error;
    }
  }

  #endLane(id: string, name: string | null): void {
    const lanes = this.#lanes.get(id);
    if (name !== null && lanes?.delete(name) && lanes.size === 0) this.#lanes.delete(id);
  }

  #reportFailure({ host }: EventDestination, { id, type }: StoredEvent, error: unknown): void {
    if (this.#isClosing) return;
    if (host === null) this.#options.onError(error);
    else this.#options.log.warn({ event: id, type, host, why: String(error) }, "webhook failed");
  }

  #failed(outbox: Outbox, name: string): Outbox {
    const tries = (outbox.retries[name]?.tries ?? 0) + 1;
    const at = this.#isClosing ? 0 : this.#options.now() + backOffMs(tries);
    return { ...outbox, retries: { ...outbox.retries, [name]: { tries, at } } };
  }

  /**
   * Stores a change of the outbox, and begins what can be delivered next. One change of an image at a time: the last delivery under way
   * must find that it is the last.
   * @param lane The delivery that ends; `null`: none.
   */
  async settle(
    current: CurrentRecord,
    lane: string | null,
    change: (outbox: Outbox) => outboxes.OutboxChange,
  ): Promise<void> {
    const { id } = current.record;
    const settling = (this.#settling.get(id) ?? Promise.resolve()).then(() =>
      this.#settleNow(current, lane, change),
    );
    const over = settling.catch(() => undefined); // The caller gets it.
    this.#settling.set(id, over);
    await settling.finally(() => {
      if (this.#settling.get(id) === over) this.#settling.delete(id);
    });
  }

  async #settleNow(
    current: CurrentRecord,
    lane: string | null,
    change: (outbox: Outbox) => outboxes.OutboxChange,
  ): Promise<void> {
    const { records } = this.#options;
    const { id } = current.record;
    for (let latest: CurrentRecord | null = current, attempt = 1; ; attempt++) {
      if (latest?.record.outbox === undefined) {
        // Another node was faster. A known entry may announce a write under way, so none is removed.
        this.#endLane(id, lane);
        return;
      }
      const { outbox, dead } = change(latest.record.outbox);
      try {
        const written = await this.#store(latest, lane, outbox);
        this.bury(dead);
        this.#endLane(id, lane);
        return this.deliver(written);
      } catch (error) {
        if (!isServiceError(error, "conflict") || attempt === MAX_ATTEMPTS) throw error;
        latest = await records().loadUnconfirmed(id);
      }
    }
  }

  /** Writes an outbox: with a lease if this process goes on, else with an entry for the next delivery. */
  async #store(
    current: CurrentRecord,
    lane: string | null,
    outbox: Outbox | undefined,
  ): Promise<CurrentRecord> {
    const records = this.#options.records();
    const { id } = current.record;
    if (outbox === undefined) {
      return this.#options.entries.replace(id, () => records.replaceOutbox(current, undefined, true));
    }
    const isUnderWay = [...(this.#lanes.get(id) ?? [])].some((name) => name !== lane);
    if (isUnderWay || this.#startable(id, outbox, lane).length > 0) {
      return records.replaceOutbox(current, this.leased(outbox), true);
    }
    return this.#options.entries.replace(id, async () => {
      const dueMs = this.#nextLook(outbox);
      await this.#options.entries.add(id, outbox.events[0]?.at ?? dueMs, dueMs);
      const isMine = outbox.worker === this.#worker;
      if (!isMine && outbox === current.record.outbox) return current;
      const next = isMine ? { ...outbox, worker: null, leaseUntil: 0 } : outbox;
      return records.replaceOutbox(current, next, true);
    });
  }

  /** When a node should look again at events that this one cannot deliver now. */
  #nextLook(outbox: Outbox): number {
    const now = this.#options.now();
    const times = outboxes.waitingIn(outbox).map((name) => {
      const destination = this.#options.destinations.get(name);
      const retryAt = outbox.retries[name]?.at ?? 0;
      if (retryAt > now || this.#isClosing) return Math.max(now, retryAt);
      return now + (destination === undefined ? later() : destination.delayMs());
    });
    return Math.ceil(Math.min(...times));
  }

  /** Reports events that are given up. */
  bury(dead: readonly outboxes.DeadLetter[]): void {
    const { onError, now, dead: list } = this.#options;
    for (const { event, name } of dead) {
      this.dead++;
      const what = `The event ${event.id} (${event.type} of image ${event.image.id})`;
      onError(
        new Error(
          `${what} was given up: ${this.#options.destinations.get(name)?.host ?? name} did not take it`,
        ),
      );
      this.track(list.add({ id: event.image.id, dueMs: now() }));
    }
  }
}
