import type { Observer } from "../../contracts/observer.ts";
import type { RateLimiter, RateRule } from "../../contracts/rate-limiter.ts";
import type { Renderer } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { ClientLimit, refusingBucket } from "../../http/client-limit.ts";
import { type EntryOptions, FairGate, type GateRefusal, type Slot } from "../../http/fair-gate.ts";

/** The client name of calls in code. It waits like others, without limits per client. No client address looks like it. */
export const HOST_CLIENT = "host app";
/** The client name of work that no client waits for: uploads that were answered with 202. */
export const BACKGROUND_CLIENT = "background";

export interface RenderGateOptions {
  limiter: RateLimiter;
  /** CPU seconds per client and minute; `null`: no budget. */
  cpuSeconds: number | null;
  /** Whether to limit the waiting and running renders of one client. @default true */
  isLimited?: boolean;
  /** Receives gauges of waiting and running work. */
  observer?: Observer | undefined;
  /** Receives errors of the limiter. */
  onError(error: unknown): void;
}

/** A call of the renderer: its signal, and where it reports its cost. */
export interface GatedWork {
  signal: AbortSignal;
  onCost(cpuMs: number): void;
}

type ClientLimits = Pick<EntryOptions, "maxSlots" | "maxQueue">;

/** Limits of one client. */
const RENDERS = { maxSlots: 2, maxQueue: 8 };
const ADMISSIONS = { maxSlots: 2, maxQueue: 16 };
/** A client that was charged more CPU time for one picture leaves the last free process to others. A photograph takes less. */
const CHEAP_MS = 500;
const MAX_WAIT_MS = 300_000;
const MIN_RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 60_000;

/** Shares the renderer between the clients of this process. Each is charged for the CPU time of its pictures. */
export class RenderGate {
  readonly #gate: FairGate;
  readonly #isLimited: boolean;
  readonly #budget: RenderBudget;
  readonly #hideGauges: (() => void)[] = [];

  constructor({ workers, maxQueue }: Pick<Renderer, "workers" | "maxQueue">, options: RenderGateOptions) {
    const slots = workers ?? Number.POSITIVE_INFINITY;
    const gate = new FairGate({
      slots,
      maxQueue: maxQueue ?? slots,
      cheapUnits: CHEAP_MS,
      refuse,
    });
    this.#gate = gate;
    // Callers of a renderer that states no number of processes need not wait.
    this.#isLimited = workers !== undefined && (options.isLimited ?? true);
    this.#budget = new RenderBudget(options);
    if (options.observer === undefined || workers === undefined) return;
    this.#hideGauges.push(
      options.observer.gauge("renders_waiting", () => gate.state.waiting),
      options.observer.gauge("renders_running", () => gate.state.held),
    );
  }

  /**
   * Runs the admission of an upload when its client gets a slot. Rejects as the work does, with `rate_limited` when the client has too
   * many waiting, and with `overloaded` when too much work waits. The client's budget is charged, but does not refuse it.
   */
  async admit<T>(client: string, signal: AbortSignal, work: (given: GatedWork) => Promise<T>): Promise<T> {
    // Uploads and renders of a client wait side by side: neither counts against the limits of the other.
    const slot = await this.#enter(client, uploadsOf(client), signal, ADMISSIONS);
    return this.#run(slot, client, signal, work);
  }

  /**
   * Runs a render when its client gets a slot. Rejects as the work does, with `rate_limited` when the client has no budget left or too
   * many renders waiting, and with `overloaded` when too much work waits.
   */
  async render<T>(client: string, signal: AbortSignal, work: (given: GatedWork) => Promise<T>): Promise<T> {
    await this.#budget.require(client, () => this.#gate.othersWait(client, uploadsOf(client)));
    const slot = await this.#enter(client, client, signal, RENDERS);
    return this.#run(slot, client, signal, work);
  }

  /** Removes the gauges. */
  close(): void {
    for (const hide of this.#hideGauges) hide();
  }

  async #run<T>(
    slot: Slot,
    client: string,
    signal: AbortSignal,
    work: (given: GatedWork) => Promise<T>,
  ): Promise<T> {
    const beginMs = performance.now();
    let isMeasured = false;
    const onCost = (cpuMs: number): void => {
      isMeasured = true;
      slot.charge(cpuMs);
      this.#budget.charge(client, cpuMs);
    };
    try {
      return await work({ signal, onCost });
    } finally {
      if (!isMeasured) slot.charge(performance.now() - beginMs);
      slot.leave();
    }
  }

  /** Waits for a slot of `client` under `name`. */
  #enter(client: string, name: string, signal: AbortSignal, limits: ClientLimits): Promise<Slot> {
    const isFree = !this.#isLimited || isInternal(client);
    return this.#gate.enter(name, { ...(isFree ? {} : limits), signal, maxWaitMs: MAX_WAIT_MS });
  }
}

/** Number of budgets that a client may use while no other client waits. */
const SPARE_BUDGETS = 5;
const WINDOW_MS = 60_000;

/** Charges clients with the CPU time of their renders, in milliseconds, since the limiter counts whole points. */
export class RenderBudget {
  readonly #limit: ClientLimit | null;
  readonly #onError: (error: unknown) => void;

  constructor({
    limiter,
    cpuSeconds,
    onError,
  }: Pick<RenderGateOptions, "limiter" | "cpuSeconds" | "onError">) {
    const budgetMs = Math.max(1, Math.round((cpuSeconds ?? 0) * 1000));
    const rule: RateRule = { limit: budgetMs * SPARE_BUDGETS, windowMs: WINDOW_MS };
    this.#limit = cpuSeconds === null ? null : new ClientLimit(limiter, "renders", rule);
    this.#onError = onError;
  }

  /** Rejects with `rate_limited` if the client has used its budget and others wait, or has used five times its budget. */
  async require(client: string, othersWait: () => boolean): Promise<void> {
    if (this.#limit === null || isInternal(client)) return;
    const buckets = await this.#limit.peek(client);
    const refusing = refusingBucket(buckets, ({ rule: { limit: most }, remaining }) => {
      const isWithin = most - remaining < most / SPARE_BUDGETS;
      return !isWithin && (remaining <= 0 || othersWait());
    });
    if (refusing === undefined) return;
    throw new ServiceError(
      "rate_limited",
      "You have used up your time for new renditions. Stored sizes are still served.",
      { retryAfterMs: refusing.resetMs },
    );
  }

  /** Charges a client in the background. */
  charge(client: string, cpuMs: number): void {
    const cost = Math.ceil(cpuMs);
    if (this.#limit === null || isInternal(client) || cost < 1) return;
    this.#limit.charge(client, cost).catch(this.#onError);
  }
}

function isInternal(client: string): boolean {
  return client === HOST_CLIENT || client === BACKGROUND_CLIENT;
}

function uploadsOf(client: string): string {
  return `uploads of ${client}`;
}

function refuse({ isOwn, expectedUnits }: GateRefusal): ServiceError {
  const expectedMs = Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, expectedUnits));
  const retryAfterMs = Math.round(expectedMs);
  return isOwn
    ? new ServiceError("rate_limited", "You have too many images waiting to be rendered.", { retryAfterMs })
    : new ServiceError("overloaded", "Too many images are waiting to be rendered.", { retryAfterMs });
}
