/** Pseudo-random numbers, the same for the same seed, so that a failure can be reproduced. */
export interface Random {
  /** 0 to `limit` - 1. */
  below(limit: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  bytes(length: number): Buffer;
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick: (list) => list[below(list.length)] ?? list[0],
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}
