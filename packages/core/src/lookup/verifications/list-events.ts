import { randomBytes } from "node:crypto";
import type { ListEnd, TakenEnd, VerificationQueue } from "../../contracts/verification-queue.ts";
import {
  Deliveries,
  type DeliveriesOptions,
  later,
  type Throttled,
  throttled,
} from "../../http/deliveries.ts";
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
const TAKEN_AT_ONCE = 100;
const PAGE_ROWS = 1000;
/** Time for which an event waits for a process that knows its receiver, such as while a new configuration is rolled out. */
const UNKNOWN_KEPT_MS = 60 * 60_000;

/** What a list stores of its event. */
interface EndState {
  id: string;
  /** Rows by their status, counted at the first attempt. */
  counts: Record<string, number> | null;
  /** Receivers that have not got it: failed attempts, and when the next one is due. */
  waiting: Record<string, { tries: number; at: number }>;
}

export interface ListEventsOptions extends DeliveriesOptions {
  queue: VerificationQueue;
  /** `null`: this process has none, and leaves all events to others. */
  webhooks: readonly Webhook[] | null;
}

interface Destination extends Throttled<WebhookMessage>, Pick<Webhook, "host" | "takes"> {}

/** Delivers the events of finished lists, under a lease in each list. */
export class ListEvents {
  readonly deliveries: Deliveries;
  readonly #options: ListEventsOptions;
  readonly #destinations: ReadonlyMap<string, Destination>;

  constructor(options: ListEventsOptions) {
    const { queue, webhooks, now } = options;
    this.#options = options;
    this.deliveries = new Deliveries(options);
    this.#destinations = new Map(
      (webhooks ?? []).map(({ name, host, takes, send }) => {
        return [name, { host, takes, ...throttled(send, now) }];
      }),
    );
    this.deliveries.startPolling({
      everyMs: POLL_MS,
      isNeeded: () => webhooks !== null,
      look: async () => {
        const taken = await queue.takeEnds(TAKEN_AT_ONCE, LEASE_MS, now());
        // One that hangs delays no other.
        for (const end of taken) this.deliveries.track(this.#deliver(end));
        return taken.length === TAKEN_AT_ONCE;
      },
      count: () => queue.countEnds(),
    });
  }

  /** The event of a list that ends now; `undefined`: it has no receiver. */
  end(): ListEnd | undefined {
    const takers = [...this.#destinations].filter(([, { takes }]) => takes(DONE));
    if (takers.length === 0) return undefined;
    const waiting = Object.fromEntries(takers.map(([name]) => [name, { tries: 0, at: 0 }]));
    const state: EndState = { id: `evt_${randomBytes(16).toString("base64url")}`, counts: null, waiting };
    return { at: this.#options.now(), state: JSON.stringify(state) };
  }

  /** Waits a moment for deliveries under way, and leaves all others to other processes. */
  close(): Promise<void> {
    return this.deliveries.close();
  }

  /** Tries every receiver that is due, at the same time. */
  async #deliver(end: TakenEnd): Promise<void> {
    const { deliveries } = this;
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
      if (!isRemoved && (destination === undefined || delayMs > 0 || deliveries.isClosing)) {
        waiting[name] = { tries, at: now() + (deliveries.isClosing ? 0 : delayMs) };
        return;
      }
      const failure =
        destination === undefined ? { error: null } : await deliveries.attempt(destination, message);
      if (failure === null || isRemoved || isOld || failure.error instanceof ReceiverGone)
        delete waiting[name];
      else
        waiting[name] = { tries: tries + 1, at: now() + (deliveries.isClosing ? 0 : backOffMs(tries + 1)) };
      if (failure === null || waiting[name] !== undefined) return;
      isDead = true;
      deliveries.bury(message, `list ${end.list}`, destination?.host ?? name);
    });
    state.counts ??= await countByStatus(queue, end);
    const { list: id, account, total, at } = end;
    // No address, and nothing of the rows but their number.
    const data = { list: { id, account, status: "done", total, counts: state.counts } };
    const message = { id: state.id, type: DONE, at, data };
    await Promise.all(attempts.map((attempt) => attempt(message)));
    const times = Object.values(waiting).map(({ at }) => at);
    const dueMs = times.length === 0 ? null : Math.ceil(Math.min(...times));
    await queue.settleEnd(end, { state: JSON.stringify(state), dueMs, isDead });
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
