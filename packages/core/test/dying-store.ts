import { Readable } from "node:stream";
import type { BlobStore } from "../src/contracts/blob-store.ts";
import { ServiceError } from "../src/errors.ts";

/** The fault at a call: no call ends from there on, or this one call fails. With `after`, the call has taken effect. */
export type Fault = "dies" | "dies after" | "fails once" | "fails after";

interface FaultyStore {
  store: BlobStore;
  isHit(): boolean;
  /** Resolves at the fault. */
  hit: Promise<void>;
  /** Resolves when the calls before the fault are over, so that none spans the later jump of the clock. */
  settled(): Promise<void>;
}

/** A store with a fault at the call number `point`, counted from 0. */
export function faultyStore(store: BlobStore, point: number, fault: Fault): FaultyStore {
  let calls = 0;
  let onHit = () => {};
  const hit = new Promise<void>((resolve) => {
    onHit = resolve;
  });
  const underWay = new Set<Promise<unknown>>();
  const dies = fault.startsWith("dies");
  const isFaulty = (index: number) => (dies ? index >= point : index === point);
  const meet = async <T>(call: () => Promise<T>): Promise<T> => {
    const index = calls++;
    const takesEffect = !isFaulty(index) || (index === point && fault.endsWith("after"));
    const passed = takesEffect ? call() : undefined;
    if (passed !== undefined) underWay.add(passed);
    const answer = passed?.finally(() => underWay.delete(passed));
    if (index === point) onHit();
    if (answer !== undefined && !isFaulty(index)) return answer;
    await answer?.catch(() => undefined);
    if (!dies) throw new ServiceError("store_unavailable", "No answer.");
    return new Promise<T>(() => {});
  };
  return {
    isHit: () => calls > point,
    hit,
    async settled() {
      await Promise.allSettled(underWay);
    },
    store: {
      put: (key, body, options) => {
        // A store never leaves a stream open, even after a failure.
        if (body instanceof Readable && isFaulty(calls)) body.on("error", () => undefined).destroy();
        return meet(() => store.put(key, body, options));
      },
      get: (key, options) => meet(() => store.get(key, options)),
      stat: (key) => meet(() => store.stat(key)),
      delete: (key) => meet(() => store.delete(key)),
      // Polls for work run on a timer; counting them would make the count depend on time.
      list: (prefix, options) =>
        prefix.startsWith("due-") ? store.list(prefix, options) : meet(() => store.list(prefix, options)),
      close: async () => {},
    },
  };
}
