import type { Renderer } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";

const WORKERS = 2;
const DEAR_MS = 5000;
const CHEAP_MS = 20;
/** Dimensions of pictures that are expensive at every size. */
export const DEAR_TYPE = "image/svg+xml";

/** A renderer whose expensive renders last until the test ends them. */
export interface HeldRenderer {
  renderer: Renderer;
  /** Expensive renders requested. */
  asked(): number;
  /** Expensive renders begun. */
  begun(): number;
  /** Expensive renders in progress. */
  running(): number;
  /** Ends the expensive render that began first. */
  endOldest(): void;
}

/**
 * Runs two renders at a time, first come first served. Renders of {@link DEAR_TYPE} are expensive; all others take no
 * time.
 * @param isShared whether it states its concurrency, so that the service schedules clients fairly. Otherwise only its
 * own queue applies.
 */
export function heldRenderer(isShared: boolean): HeldRenderer {
  const { workers: _workers, maxQueue: _maxQueue, ...real } = createRenderer({ workers: 1 });
  const line: (() => void)[] = [];
  const held: (() => void)[] = [];
  let busy = 0;
  let asked = 0;
  let begun = 0;

  async function inLine<T>(work: () => Promise<T>): Promise<T> {
    if (busy === WORKERS) await new Promise<void>((resolve) => line.push(resolve));
    else busy++;
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next === undefined) busy--;
      else next();
    }
  }

  const renderer: Renderer = {
    ...real,
    ...(isShared ? { workers: WORKERS, maxQueue: 64 } : {}),
    admit: (...args) => inLine(() => real.admit(...args)),
    async render(_source, type, _spec, work) {
      const isDear = type === DEAR_TYPE;
      if (isDear) asked++;
      return inLine(async () => {
        if (isDear) {
          begun++;
          await new Promise<void>((resolve) => held.push(resolve));
        }
        work?.onCost?.(isDear ? DEAR_MS : CHEAP_MS);
        return { bytes: Buffer.from("a rendition") };
      });
    },
  };
  return {
    renderer,
    asked: () => asked,
    begun: () => begun,
    running: () => held.length,
    endOldest: () => held.shift()?.(),
  };
}
