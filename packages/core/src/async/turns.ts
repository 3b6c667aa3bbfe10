/** Turns for work of which only some may run at a time. */
export interface Turns {
  /** Resolves when it is the caller's turn, in the order of the calls. */
  begin(): Promise<void>;
  end(): void;
}

export function createTurns(limit: number): Turns {
  const waiting: (() => void)[] = [];
  let free = limit;
  return {
    async begin() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    end() {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    },
  };
}
