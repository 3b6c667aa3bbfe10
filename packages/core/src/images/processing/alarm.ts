/** Rings once, at the earliest of the times that were asked for since it rang last. Keeps no process from ending. */
export interface Alarm {
  within(ms: number): void;
  /** Rings no more. */
  close(): void;
}

export function createAlarm(ring: () => void): Alarm {
  let timer: NodeJS.Timeout | undefined;
  let ringsAt = Number.POSITIVE_INFINITY;
  let isClosed = false;
  return {
    within(ms) {
      const at = performance.now() + ms;
      if (isClosed || at >= ringsAt) return;
      ringsAt = at;
      clearTimeout(timer);
      timer = setTimeout(() => {
        ringsAt = Number.POSITIVE_INFINITY;
        ring();
      }, ms).unref();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
