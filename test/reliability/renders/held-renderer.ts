import type { Renderer } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";

const WORKERS = 2;
const DEAR_MS = 5000;
const CHEAP_MS = 20;
/** What is known of pictures that are dear at every size. */
export const DEAR_TYPE = "image/svg+xml";

/** A renderer whose dear renders last until the test ends them. */
export interface HeldRenderer {
  renderer: Renderer;
  /** Dear renders that it was asked for. */
  asked(): number;
  /** Dear renders that have begun. */
  begun(): number;
  /** Dear renders under way. */
  running(): number;
  /** Ends the dear render that began first. */
  endOldest(): void;
}

/**
 * Does two things at a time, first come first served. Dear are renders of {@link DEAR_TYPE}; all others take no time.
 * @param isShared whether it says how much it does at once, so that its clients have turns. Else its own line is all.
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
