import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { checkValue } from "../../check-options.ts";
import type { DueEntry } from "../../contracts/due-index.ts";
import { isServiceError } from "../../errors.ts";
import { type Backlog, Deliveries, type DeliveriesOptions } from "../../http/deliveries.ts";
import { DELIVERY_MS, UNDELIVERED_MS } from "../../http/webhooks.ts";
import { fn } from "../../option-rules.ts";
import { type DueList, sweepDue } from "../../stores/due-list.ts";
import {
  type ImageEvent,
  type ImageEventDetails,
  type ImageEventType,
  type ImageRecord,
  isImageId,
  type Outbox,
  type StoredEvent,
  summaryOf,
} from "../record/image-record.ts";
import type { CurrentRecord, ImageRecords, RecordEvents } from "../record/image-records.ts";
import * as outboxes from "../record/outbox.ts";
import { withOutbox } from "../record/shown-revision.ts";
import { codeDestination, type EventDestination } from "./destinations.ts";
import { EventDelivery, MAX_ATTEMPTS } from "./event-delivery.ts";
import { countBacklog, EventEntries, ORPHAN_MS, parseEntry } from "./event-entries.ts";

/*
 * The record is the outbox. A change adds a due entry, then its events by the write of the record, then delivers them, then removes
 * them by compare-and-set, with the next change or a moment later, and last the entry. A process that dies between two of these steps leaves the entry, by which another one
 * delivers what the record still has.
 */

/** Time for which events wait for a node that knows their destination, such as while a new configuration is rolled out. */
const UNKNOWN_KEPT_MS = 60 * 60_000;
/** Delay of an image that cannot be read, so that it does not block the images behind it. */
const POSTPONE_MS = 5 * 60_000;
const POLLED_AT_ONCE = 200;
const TAKEN_AT_ONCE = 8;
/** How long events that were given up are counted. */
const DEAD_LISTED_MS = 30 * 24 * 60 * 60_000;

export interface ImageEventsOptions extends DeliveriesOptions {
  /** See {@link EventEntries}. */
  due: DueList;
  /** Images with events that were given up, by that time. */
  dead: DueList;
  records(): ImageRecords;
  /** Whether this process knows all webhooks, of which there may be none. */
  hasWebhooks: boolean;
}

/** Records the events of images, and finds those that other processes left. */
export class ImageEvents implements RecordEvents {
  readonly deliveries: Deliveries;
  readonly #options: ImageEventsOptions;
  readonly #entries: EventEntries;
  readonly #delivery: EventDelivery;
  readonly #destinations = new Map<string, EventDestination>();
  #polledSince = Number.POSITIVE_INFINITY;

  constructor(options: ImageEventsOptions) {
    this.#options = options;
    this.deliveries = new Deliveries(options);
    this.#entries = new EventEntries(options.due, options.now);
    this.#delivery = new EventDelivery({
      ...options,
      deliveries: this.deliveries,
      entries: this.#entries,
      destinations: this.#destinations,
    });
  }

  /** Adds a destination. @returns removes it */
  addDestination(destination: EventDestination): () => void {
    const { name } = destination;
    this.#destinations.set(name, destination);
    this.deliveries.pollIn(0);
    return () => {
      if (this.#destinations.get(name) === destination) this.#destinations.delete(name);
    };
  }

  /** Calls `handler` with every event; see `Images.events`. */
  subscribe(handler: (event: ImageEvent) => unknown): () => void {
    checkValue("subscribe: handler", handler, fn());
    let n = 1;
    while (this.#destinations.has(`subscriber-${n}`)) n++;
    return this.addDestination(codeDestination(`subscriber-${n}`, () => true, handler));
  }

  /** Begins to deliver what other processes leave, while there is a destination or `hasWebhooks`. @param due The list, without an observer. */
  start(due: DueList, opened: () => Promise<unknown>): void {
    this.#polledSince = this.#options.now();
    this.deliveries.startPolling({
      everyMs: due.pollMs,
      isNeeded: () => this.#isUsed(),
      look: async () => {
        await opened();
        const entries = await due.due(this.#options.now(), POLLED_AT_ONCE);
        const isFull = entries.length === POLLED_AT_ONCE;
        await forEachAtOnce(entries, TAKEN_AT_ONCE, (entry) => this.#takeOrPostpone(entry, isFull));
        return isFull;
      },
      count: () => countBacklog(due, this.#options.now()),
    });
  }

  /** Waits a moment for deliveries under way, and leaves all others to other processes. */
  close(): Promise<void> {
    return this.#delivery.close();
  }

  /** What waits, and how many images had events that were given up within 30 days (at most 1000). */
  async count(): Promise<Backlog & { dead: number }> {
    const { due, dead, now } = this.#options;
    const gaveUp = await dead.due(Number.POSITIVE_INFINITY, 1000);
    return { ...(await countBacklog(due, now())), dead: gaveUp.length };
  }

  /** Forgets the events that were given up long ago. */
  async sweep(): Promise<void> {
    const { dead, now, onError } = this.#options;
    if (!this.#isUsed()) return;
    await sweepDue(dead, Math.max(0, now() - DEAD_LISTED_MS), async () => undefined, onError);
  }

  /** Announces an upload beside the first writes, if it will have an event; see {@link EventEntries.announce}. */
  async announce(id: string): Promise<void> {
    const isHeard = this.#takers("image.stored").length + this.#takers("image.held").length > 0;
    if (isHeard) await this.#entries.announce(id);
  }

  /** Lets the events of a record be found by its time. */
  async resume({ id, outbox }: ImageRecord): Promise<void> {
    const at = outbox?.events[0]?.at;
    if (at !== undefined) await this.#entries.add(id, at, this.#options.now());
  }

  /** Undoes {@link announce} for an upload that is not stored. */
  withdraw(id: string): Promise<void> {
    return this.#entries.withdraw(id);
  }

  async derive(before: ImageRecord | null, after: ImageRecord): Promise<ImageRecord> {
    const events = this.#eventsOf(before, after);
    if (events.length > 0) return this.#withEvents(after, events);
    // An upload that was announced is yet to be processed.
    if (before === null) this.deliveries.track(this.withdraw(after.id));
    const outbox = this.#delivery.withoutDelivered(after.id, after.outbox);
    if (outbox === after.outbox) return after;
    if (outbox === undefined) this.#entries.retire(after.id);
    return withOutbox(after, outbox);
  }

  #eventsOf(before: ImageRecord | null, after: ImageRecord): StoredEvent[] {
    const at = this.#options.now();
    return outboxes.changesOf(before, after).flatMap(({ type, details }) => {
      const to = this.#takers(type);
      const image = summaryOf(type === "image.removed" && before !== null ? before : after);
      return to.length === 0 ? [] : [outboxes.createEvent({ type, at, image, ...details, to })];
    });
  }

  #takers(type: ImageEventType): string[] {
    return [...this.#destinations.values()].filter(({ takes }) => takes(type)).map(({ name }) => name);
  }

  deliver(current: CurrentRecord): void {
    this.#delivery.deliver(current);
  }

  /** Delivers the events of a change that could not be stored, and those that waited in the record, once. Failures give them up. */
  deliverUnstored(before: ImageRecord, after: ImageRecord): void {
    const waiting = this.#delivery.withoutDelivered(before.id, before.outbox)?.events ?? [];
    this.#delivery.deliverUnstored([...waiting, ...this.#eventsOf(before, after)]);
  }

  /**
   * Adds an event to an image without any other change. Resolves when it is stored. Does nothing without a receiver, or without a
   * record.
   */
  async addEvent(id: string, type: ImageEventType, details: ImageEventDetails): Promise<void> {
    const { records, now } = this.#options;
    const to = this.#takers(type);
    for (let attempt = 1; to.length > 0; attempt++) {
      const current = await records().load(id);
      if (current === null) return;
      const image = summaryOf(current.record);
      const event = outboxes.createEvent({ type, at: now(), image, ...details, to });
      const { outbox } = await this.#withEvents(current.record, [event]);
      try {
        return this.deliver(await records().replaceOutbox(current, outbox, false));
      } catch (error) {
        if (!isServiceError(error, "conflict") || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  async #withEvents(record: ImageRecord, events: readonly StoredEvent[]): Promise<ImageRecord> {
    await this.#entries.announce(record.id);
    const waiting = this.#delivery.withoutDelivered(record.id, record.outbox);
    const { outbox, dead } = outboxes.withEvents(waiting, events);
    this.#delivery.bury(dead);
    return { ...record, outbox: this.#delivery.lease.taken(outbox) };
  }

  #isUsed(): boolean {
    return this.#destinations.size > 0 || this.#options.hasWebhooks;
  }

  /** @param isFull Whether further entries are due. */
  async #takeOrPostpone(entry: DueEntry, isFull: boolean): Promise<void> {
    const { now, onError } = this.#options;
    try {
      await this.#take(entry, isFull);
    } catch (error) {
      // A damaged record is reported by all who read it.
      const isDamaged = isServiceError(error, "damaged");
      if (!isDamaged) onError(error);
      const isOver = isDamaged && now() - parseEntry(entry).at >= UNDELIVERED_MS;
      await (isOver ? this.#entries.remove(entry) : this.#entries.move(entry, now() + POSTPONE_MS));
    }
  }

  async #take(entry: DueEntry, isFull: boolean): Promise<void> {
    const { records, now } = this.#options;
    const { id, at } = parseEntry(entry);
    if (this.deliveries.isClosing) return;
    if (this.#delivery.isUnderWay(id)) {
      // Slow deliveries must not hide the entries behind them.
      if (isFull) await this.#entries.move(entry, now() + DELIVERY_MS);
      return;
    }
    if (!isImageId(id)) return this.#entries.remove(entry);
    const current = await records().loadUnconfirmed(id);
    const outbox = current?.record.outbox;
    if (current === null || outbox === undefined) {
      if (now() - at < ORPHAN_MS) return this.#entries.move(entry, at + ORPHAN_MS);
      return this.#entries.remove(entry);
    }
    if (this.#delivery.lease.isOthers(outbox)) return this.#entries.move(entry, outbox.leaseUntil + 1000);
    this.#entries.found(entry);
    await this.#delivery.settle(current, null, (latest) => this.#withoutLost(latest));
  }

  /** Gives up events without a destination, and those that ended processes until they were too old. Others get an attempt first. */
  #withoutLost(found: Outbox): outboxes.OutboxChange {
    const { now, hasWebhooks } = this.#options;
    const nowMs = now();
    const hasDied = this.#delivery.lease.hasDied(found);
    const outbox = hasDied ? outboxes.afterDeath(found, nowMs) : found;
    // A host may subscribe some time after the start.
    const isNew = nowMs - this.#polledSince < UNKNOWN_KEPT_MS;
    return outboxes.withoutLost(outbox, ({ event, name }) => {
      const isOld = nowMs - event.at >= UNDELIVERED_MS;
      if (this.#destinations.has(name)) {
        const isDeadly = hasDied && (outbox.retries[name]?.tries ?? 0) >= outboxes.DEADLY;
        return isOld && isDeadly && event === outboxes.oldestFor(outbox, name);
      }
      const isRemoved = hasWebhooks && name.startsWith("webhook-") && nowMs - event.at >= UNKNOWN_KEPT_MS;
      return !isNew && (isOld || isRemoved);
    });
  }
}
