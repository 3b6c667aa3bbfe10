import { randomBytes } from "node:crypto";
import { UNDELIVERED_MS } from "../../http/webhooks.ts";
import type {
  ImageEvent,
  ImageEventDetails,
  ImageEventType,
  ImageRecord,
  ImageSummary,
  Outbox,
  StoredEvent,
} from "./image-record.ts";

/** Undelivered events of an image. Beyond them, the oldest are given up. */
const MAX_EVENTS = 100;

/** What a change of a record means. @param before `null`: there was none. */
export function changesOf(
  before: ImageRecord | null,
  after: ImageRecord,
): { type: ImageEventType; details: ImageEventDetails }[] {
  const type = (name: ImageEventType, details: ImageEventDetails = {}) => ({ type: name, details });
  const wasWaiting = before === null || before.processing !== null;
  const heldBefore = before !== null && isHeld(before) ? { wasHeld: true as const } : null;
  const { gone, withheld } = after;
  if (gone !== null) {
    const wasStored = !wasWaiting && before.gone === null && before.failure === null;
    return wasStored ? [type("image.removed", { why: gone.why, ...heldBefore })] : [];
  }
  if (after.failure !== null) {
    return heldBefore === null ? [] : [type("image.removed", { why: "refused", ...heldBefore })];
  }
  const changes = [];
  if (after.processing === null) {
    if (isHeld(after)) {
      if (heldBefore === null) changes.push(type("image.held"));
    } else if (heldBefore !== null) changes.push(type("image.accepted"));
    else if (wasWaiting) changes.push(type("image.stored"));
  }
  const isNews = JSON.stringify(withheld) !== JSON.stringify(before?.withheld ?? null);
  if (withheld !== null && isNews) {
    const { reason, authority, deleteAfter } = withheld;
    changes.push(type("image.withheld", { reason, authority, deleteAfter }));
  }
  return changes;
}

function isHeld({ held }: ImageRecord): boolean {
  return (held ?? null) !== null;
}

export function createEvent(
  type: ImageEventType,
  at: number,
  image: ImageSummary,
  details: ImageEventDetails,
  to: readonly string[],
): StoredEvent {
  return { id: `evt_${randomBytes(16).toString("base64url")}`, type, at, image, ...details, to };
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
export function waitingIn({ events }: Outbox): string[] {
  return [...new Set(events.flatMap(({ to }) => to))];
}

/** Adds events at the end. */
export function withEvents(
  outbox: Outbox | undefined,
  added: readonly StoredEvent[],
): OutboxChange & { outbox: Outbox } {
  const { events, ...state } = outbox ?? { events: [], worker: null, leaseUntil: 0, retries: {} };
  const all = [...events, ...added];
  const dead = all.slice(0, -MAX_EVENTS).flatMap((event) => event.to.map((name) => ({ event, name })));
  return { outbox: { ...state, events: all.slice(-MAX_EVENTS) }, dead };
}

/** Removes an event from those that a destination has not received. */
export function withoutEvent(outbox: Outbox, id: string, name: string): OutboxChange["outbox"] {
  const { [name]: _, ...retries } = outbox.retries;
  const events = outbox.events
    .map((event) => (event.id === id ? { ...event, to: event.to.filter((each) => each !== name) } : event))
    .filter(({ to }) => to.length > 0);
  return events.length === 0 ? undefined : { ...outbox, events, retries };
}

/** Gives up what is too old, and all that `isDropped` names. */
export function withoutOld(
  outbox: Outbox,
  nowMs: number,
  isDropped: (letter: DeadLetter) => boolean,
): OutboxChange {
  const letters = outbox.events.flatMap((event) => event.to.map((name) => ({ event, name })));
  const old = letters.filter(({ event }) => nowMs - event.at >= UNDELIVERED_MS);
  let kept: Outbox | undefined = outbox;
  for (const { event, name } of [...old, ...letters.filter(isDropped)]) {
    if (kept !== undefined) kept = withoutEvent(kept, event.id, name);
  }
  return { outbox: kept, dead: old };
}
