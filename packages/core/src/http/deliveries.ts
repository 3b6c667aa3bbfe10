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

/** Deliveries under way, each with the time limit {@link DELIVERY_MS}. */
export class Attempts {
  readonly #aborts = new Set<AbortController>();

  /** Rejects if the event did not arrive in time, or was aborted. */
  async run<E>({ deliver }: Pick<Throttled<E>, "deliver">, event: E): Promise<void> {
    const controller = new AbortController();
    const late = () => controller.abort(new Error(`the event was not taken within ${DELIVERY_MS} ms`));
    const timer = setTimeout(late, DELIVERY_MS).unref();
    this.#aborts.add(controller);
    try {
      await deliver(event, controller.signal);
    } finally {
      clearTimeout(timer);
      this.#aborts.delete(controller);
    }
  }

  /** Aborts all that are under way. */
  abort(): void {
    for (const controller of this.#aborts) controller.abort(new Error("The service is closed"));
  }
}
