import { randomBytes } from "node:crypto";
import { backOffMs } from "../../http/webhooks.ts";
import type {
  ImageEvent,
  ImageEventDetails,
  ImageEventType,
  ImageRecord,
  Outbox,
  StoredEvent,
} from "./image-record.ts";

/** Undelivered events of an image. Beyond them, the oldest are given up. */
const MAX_EVENTS = 100;

/** After this many failures, the last by the death of a node, an event waits for its next attempt. */
export const DEADLY = 3;

/** What a change of a record means. @param before `null`: there was none. */
export function changesOf(
  before: ImageRecord | null,
  after: ImageRecord,
): { type: ImageEventType; details: ImageEventDetails }[] {
  const type = (name: ImageEventType, details: ImageEventDetails = {}) => ({ type: name, details });
  const wasWaiting = before === null || before.processing !== null;
  const heldBefore = before !== null && isHeld(before) ? { wasHeld: true as const } : null;
  const { gone, withheld } = after;
  const act = after.act === undefined ? null : { act: after.act.id };
  if (gone !== null) {
    const wasStored = !wasWaiting && before.gone === null && before.failure === null;
    return wasStored ? [type("image.removed", { why: gone.why, ...heldBefore, ...act })] : [];
  }
  if (after.failure !== null) {
    return heldBefore === null ? [] : [type("image.removed", { why: "refused", ...heldBefore, ...act })];
  }
  const changes = [];
  if (after.processing === null) {
    if (isHeld(after)) {
      if (heldBefore === null) changes.push(type("image.held"));
    } else if (heldBefore !== null) changes.push(type("image.accepted", { ...act }));
    else if (wasWaiting) changes.push(type("image.stored"));
  }
  const isNews = JSON.stringify(withheld) !== JSON.stringify(before?.withheld ?? null);
  if (withheld !== null && isNews) {
    const { reason, authority, deleteAfter } = withheld;
    changes.push(type("image.withheld", { reason, authority, deleteAfter, ...act }));
  }
  return changes;
}

function isHeld({ held }: ImageRecord): boolean {
  return (held ?? null) !== null;
}

export function createEvent(event: Omit<StoredEvent, "id">): StoredEvent {
  return { id: `evt_${randomBytes(16).toString("base64url")}`, ...event };
}

/** The data of an event for receivers by HTTP, with dates as in the API. */
export function webhookData({ image, ...event }: ImageEvent): object {
  const { id: _id, type: _type, at: _at, deleteAfter, dueAt, ...details } = event;
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    image: { ...image, createdAt: iso(image.createdAt), expiresAt: iso(image.expiresAt) },
    ...details,
    ...(deleteAfter === undefined ? {} : { deleteAfter: iso(deleteAfter) }),
    ...(dueAt === undefined ? {} : { dueAt: iso(dueAt) }),
  };
}

/** An event and a destination that never receives it. */
export interface DeadLetter {
  event: StoredEvent;
  name: string;
}

/** Undelivered events that change. Every change returns the next state, and what was given up. */
export interface OutboxChange {
  outbox: Outbox | undefined;
  dead: readonly DeadLetter[];
}

/** The oldest event that a destination has not received. */
export function oldestFor({ events }: Outbox, name: string): StoredEvent | undefined {
  return events.find(({ to }) => to.includes(name));
}

/** The destinations that have not received all events. */
export function waitingIn({ events }: Pick<Outbox, "events">): string[] {
  return [...new Set(events.flatMap(({ to }) => to))];
}

/** Adds events at the end. */
export function withEvents(
  outbox: Outbox | undefined,
  added: readonly StoredEvent[],
): OutboxChange & { outbox: Outbox } {
  const { events, ...state } = outbox ?? { events: [], worker: null, leaseUntil: 0, retries: {} };
  const all = [...events, ...added];
  return { outbox: { ...state, events: all.slice(-MAX_EVENTS) }, dead: lettersOf(all.slice(0, -MAX_EVENTS)) };
}

function lettersOf(events: readonly StoredEvent[]): DeadLetter[] {
  return events.flatMap((event) => event.to.map((name) => ({ event, name })));
}

/** Removes an event from those that a destination has not received. */
export function withoutEvent(outbox: Outbox, id: string, name: string): OutboxChange["outbox"] {
  const { [name]: _, ...retries } = outbox.retries;
  const events = outbox.events
    .map((event) => (event.id === id ? { ...event, to: event.to.filter((each) => each !== name) } : event))
    .filter(({ to }) => to.length > 0);
  return events.length === 0 ? undefined : { ...outbox, events, retries };
}

/** Gives up all that `isLost` names. */
export function withoutLost(outbox: Outbox, isLost: (letter: DeadLetter) => boolean): OutboxChange {
  const dead = lettersOf(outbox.events).filter(isLost);
  let kept: Outbox | undefined = outbox;
  for (const { event, name } of dead) {
    if (kept !== undefined) kept = withoutEvent(kept, event.id, name);
  }
  return { outbox: kept, dead };
}

/**
 * Counts the lease of a node that died as a failed attempt: a handler may have ended the process. The next attempt is at once at first,
 * as the cause may be another one, then at a random time: events that wait for the same time would die together.
 */
export function afterDeath(outbox: Outbox, nowMs: number): Outbox {
  const retries = { ...outbox.retries };
  for (const name of waitingIn(outbox)) {
    const { tries, at } = retries[name] ?? { tries: 0, at: 0 };
    if (at > nowMs) continue;
    const delayMs = Math.round(backOffMs(tries + 1) * (1 + Math.random()));
    retries[name] = { tries: tries + 1, at: tries + 1 < DEADLY ? 0 : nowMs + delayMs };
  }
  return { ...outbox, retries, worker: null, leaseUntil: 0 };
}
