import { setImmediate } from "node:timers/promises";
import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { isServiceError } from "../../errors.ts";
import { type Deliveries, type DeliveriesOptions, later } from "../../http/deliveries.ts";
import { backOffMs, ReceiverGone, UNDELIVERED_MS } from "../../http/webhooks.ts";
import type { DueList } from "../../stores/due-list.ts";
import type { Outbox, StoredEvent } from "../record/image-record.ts";
import type { CurrentRecord, ImageRecords } from "../record/image-records.ts";
import * as outboxes from "../record/outbox.ts";
import type { EventDestination } from "./destinations.ts";
import type { EventEntries } from "./event-entries.ts";
import { LEASE_MS, OutboxLease } from "./outbox-lease.ts";

/** Attempts of a write. Losing this often cannot be due to concurrent writers alone. */
export const MAX_ATTEMPTS = 100;
/** Delivered events are removed from their records after this time, or once so many images have one. */
const REMOVED_AFTER_MS = 500;
const MAX_DELIVERED = 32;
const REMOVED_AT_ONCE = 4;

export interface EventDeliveryOptions extends DeliveriesOptions {
  deliveries: Deliveries;
  entries: EventEntries;
  /** By name. */
  destinations: ReadonlyMap<string, EventDestination>;
  /** Images with events that were given up, by that time. */
  dead: DueList;
  records(): ImageRecords;
}

/** The deliveries of one image. */
interface ImageWork {
  /** Its record, as this process read or wrote it last. */
  current: CurrentRecord;
  /** The event of each destination, and whether it was delivered: then the record may still have it. */
  lanes: Map<string, { event: StoredEvent; isDelivered: boolean }>;
}

/** Delivers the events in the records of images, under a lease in each record. */
export class EventDelivery {
  readonly #options: EventDeliveryOptions;
  readonly lease: OutboxLease;
  readonly #works = new Map<string, ImageWork>();
  /** The last change of an image's outbox that this process stores. */
  readonly #settling = new Map<string, Promise<void>>();
  /** Images with delivered events that wait for their removal. */
  readonly #delivered = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EventDeliveryOptions) {
    this.#options = options;
    this.lease = new OutboxLease(options.now);
  }

  async close(): Promise<void> {
    const { deliveries } = this.#options;
    deliveries.isClosing = true;
    this.#removeDelivered();
    await deliveries.close();
  }

  /** Whether this process delivers an event of the image now. */
  isUnderWay(id: string): boolean {
    return this.#works.has(id);
  }

  /** Delivers events that no record has, once, and gives up those that fail. */
  deliverUnstored(events: readonly StoredEvent[]): void {
    for (const name of outboxes.waitingIn({ events })) {
      const waiting = events.filter(({ to }) => to.includes(name));
      this.#options.deliveries.track(this.#deliverOnce(name, waiting));
    }
  }

  async #deliverOnce(name: string, events: readonly StoredEvent[]): Promise<void> {
    const { deliveries, destinations } = this.#options;
    const destination = destinations.get(name);
    for (const event of events) {
      const isLost = destination === undefined || deliveries.isClosing;
      if (isLost || (await deliveries.attempt(destination, event)) !== null) this.bury([{ event, name }]);
    }
  }

  /** The outbox without what this process delivered: the next write of the record removes that. */
  withoutDelivered(id: string, outbox: Outbox | undefined): Outbox | undefined {
    let left = outbox;
    for (const [name, { event, isDelivered }] of this.#works.get(id)?.lanes ?? []) {
      if (isDelivered && left !== undefined) left = outboxes.withoutEvent(left, event.id, name);
    }
    return left;
  }

  /** Takes note of a record that was just read or written, and begins what can be delivered of it. */
  deliver(current: CurrentRecord): void {
    const { id, outbox } = current.record;
    const work = this.#works.get(id) ?? { current, lanes: new Map() };
    work.current = current;
    for (const [name, { event, isDelivered }] of work.lanes) {
      const isStored = outbox?.events.some(({ id: each, to }) => each === event.id && to.includes(name));
      if (isDelivered && isStored !== true) this.#endLane(id, name);
    }
    const { deliveries, entries } = this.#options;
    if (outbox === undefined) deliveries.track(entries.removeRetired(id));
    for (const { destination, event } of this.#startable(outbox, work, null)) {
      this.#works.set(id, work);
      work.lanes.set(destination.name, { event, isDelivered: false });
      deliveries.track(this.#run(id, work, destination, event));
    }
    // Some may have been delivered while the record was written.
    if (this.#works.has(id)) this.#removeSoon(id, work);
  }

  /** The deliveries that can begin once the outbox is stored. @param ending A delivery that has an outcome. */
  #startable(outbox: Outbox | undefined, work: ImageWork | undefined, ending: string | null) {
    const { deliveries, destinations } = this.#options;
    if (deliveries.isClosing || outbox === undefined || this.lease.isOthers(outbox)) return [];
    const now = this.#options.now();
    return outboxes.waitingIn(outbox).flatMap((name) => {
      const destination = destinations.get(name);
      const event = outboxes.oldestFor(outbox, name);
      const lane = work?.lanes.get(name);
      const isFree =
        lane === undefined || name === ending || (lane.isDelivered && lane.event.id !== event?.id);
      const retry = outbox.retries[name];
      const isEarly = (retry?.at ?? 0) > now;
      if (destination === undefined || event === undefined || !isFree || isEarly) return [];
      const isNews = destination.host === null && retry === undefined && now - event.at < LEASE_MS;
      return isNews || destination.delayMs() === 0 ? [{ destination, event }] : [];
    });
  }

  /** One delivery. The next one to this destination begins when its outcome is stored. */
  async #run(id: string, work: ImageWork, destination: EventDestination, event: StoredEvent): Promise<void> {
    const { name } = destination;
    const failure = await this.#options.deliveries.attempt(destination, event);
    // The reply of the request that made the change goes first.
    await setImmediate();
    if (failure === null) {
      work.lanes.set(name, { event, isDelivered: true });
      return this.#removeSoon(id, work);
    }
    const isOver = failure.error instanceof ReceiverGone || this.#options.now() - event.at >= UNDELIVERED_MS;
    await this.settle(work.current, name, (outbox) => ({
      outbox: isOver ? outboxes.withoutEvent(outbox, event.id, name) : this.#failed(outbox, name),
      dead: isOver ? [{ event, name }] : [],
    }));
  }

  #failed(outbox: Outbox, name: string): Outbox {
    const tries = (outbox.retries[name]?.tries ?? 0) + 1;
    const at = this.#options.deliveries.isClosing ? 0 : this.#options.now() + backOffMs(tries);
    return { ...outbox, retries: { ...outbox.retries, [name]: { tries, at } } };
  }

  /** Removes delivered events: at once if others wait behind them, else once none is under way. */
  #removeSoon(id: string, work: ImageWork): void {
    const { current, lanes } = work;
    const isNextWaiting = current.record.outbox?.events.some(({ id: event, to }) =>
      to.some((name) => lanes.get(name)?.isDelivered && lanes.get(name)?.event.id !== event),
    );
    if (isNextWaiting) this.#options.deliveries.track(this.settle(current, null, unchanged));
    else if (isDone(work)) this.#removeLater(id);
  }

  /** Removes delivered events a moment later, together: a second write beside each upload costs more than a repetition after a crash. */
  #removeLater(id: string): void {
    this.#delivered.add(id);
    const isNow = this.#options.deliveries.isClosing || this.#delivered.size >= MAX_DELIVERED;
    if (isNow) this.#removeDelivered();
    else this.#timer ??= setTimeout(() => this.#removeDelivered(), REMOVED_AFTER_MS).unref();
  }

  #removeDelivered(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { deliveries, onError } = this.#options;
    const works = [...this.#delivered].flatMap((id) => this.#works.get(id) ?? []);
    this.#delivered.clear();
    // Another delivery that has begun removes them at its end.
    const remove = ({ current }: ImageWork) => this.settle(current, null, unchanged).catch(onError);
    deliveries.track(forEachAtOnce(works.filter(isDone), REMOVED_AT_ONCE, remove));
  }

  #endLane(id: string, name: string | null): void {
    const lanes = this.#works.get(id)?.lanes;
    if (name !== null && lanes?.delete(name) && lanes.size === 0) this.#works.delete(id);
  }

  /** Ends a delivery, and those whose events arrived. */
  #endLanes(id: string, ending: string | null): void {
    for (const [name, { isDelivered }] of this.#works.get(id)?.lanes ?? []) {
      if (isDelivered || name === ending) this.#endLane(id, name);
    }
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
    try {
      await settling;
    } catch (error) {
      // The entry is still there.
      this.#endLanes(id, lane);
      throw error;
    } finally {
      if (this.#settling.get(id) === over) this.#settling.delete(id);
    }
  }

  async #settleNow(
    found: CurrentRecord,
    lane: string | null,
    change: (outbox: Outbox) => outboxes.OutboxChange,
  ): Promise<void> {
    const { id } = found.record;
    let latest: CurrentRecord | null = this.#works.get(id)?.current ?? found;
    for (let attempt = 1; ; attempt++) {
      // Another node was faster. A known entry may announce a write under way, so none is removed.
      if (latest?.record.outbox === undefined) return this.#endLanes(id, lane);
      const left = this.withoutDelivered(id, latest.record.outbox);
      const { outbox, dead } = left === undefined ? { outbox: left, dead: [] } : change(left);
      try {
        const written = await this.#store(latest, lane, outbox);
        this.bury(dead);
        this.#endLane(id, lane);
        return this.deliver(written);
      } catch (error) {
        if (!isServiceError(error, "conflict") || attempt === MAX_ATTEMPTS) throw error;
        latest = await this.#options.records().loadUnconfirmed(id);
      }
    }
  }

  /** Writes an outbox: with a lease if this process goes on, else with an entry for the next delivery. */
  async #store(
    current: CurrentRecord,
    lane: string | null,
    outbox: Outbox | undefined,
  ): Promise<CurrentRecord> {
    const { entries } = this.#options;
    const records = this.#options.records();
    const { id } = current.record;
    if (outbox === undefined) {
      return entries.replace(id, () => records.replaceOutbox(current, undefined, true));
    }
    const work = this.#works.get(id);
    const isUnderWay = [...(work?.lanes ?? [])].some(([name, each]) => name !== lane && !each.isDelivered);
    if (isUnderWay || this.#startable(outbox, work, lane).length > 0) {
      return records.replaceOutbox(current, this.lease.taken(outbox), true);
    }
    return entries.replace(id, async () => {
      const dueMs = this.#nextLook(outbox);
      await entries.add(id, outbox.events[0]?.at ?? dueMs, dueMs);
      const next = this.lease.released(outbox);
      return next === current.record.outbox ? current : records.replaceOutbox(current, next, true);
    });
  }

  /** When a node should look again at events that this one cannot deliver now. */
  #nextLook(outbox: Outbox): number {
    const { deliveries, destinations, now } = this.#options;
    const times = outboxes.waitingIn(outbox).map((name) => {
      const retryAt = outbox.retries[name]?.at ?? 0;
      if (retryAt > now() || deliveries.isClosing) return Math.max(now(), retryAt);
      return now() + (destinations.get(name)?.delayMs() ?? later());
    });
    return Math.ceil(Math.min(...times));
  }

  /** Reports events that are given up. */
  bury(letters: readonly outboxes.DeadLetter[]): void {
    const { dead, deliveries, destinations, now } = this.#options;
    for (const { event, name } of letters) {
      deliveries.bury(event, `image ${event.image.id}`, destinations.get(name)?.host ?? name);
      deliveries.track(dead.add({ id: event.image.id, dueMs: now() }));
    }
  }
}

function isDone({ lanes }: ImageWork): boolean {
  return [...lanes.values()].every(({ isDelivered }) => isDelivered);
}

function unchanged(outbox: Outbox): outboxes.OutboxChange {
  return { outbox, dead: [] };
}
