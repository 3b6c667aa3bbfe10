/**
 * Pseudo-random numbers, the same in every run.
 * @typedef {object} Seeded
 * @property {() => number} next From 0 up to, not including, 1.
 * @property {(least: number, most: number) => number} between
 * @property {(count: number) => Buffer} bytes
 */

/**
 * @param {number} seed
 * @returns {Seeded}
 */
export function createSeeded(seed) {
  let state = seed >>> 0;
  // Mulberry32, public domain, by Tommy Ettinger.
  const nextWord = () => {
    state = (state + 0x6d2b79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), 1 | state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return (word ^ (word >>> 14)) >>> 0;
  };
  const next = () => nextWord() / 2 ** 32;
  return {
    next,
    between: (least, most) => least + next() * (most - least),
    bytes(count) {
      const words = new Uint32Array(Math.ceil(count / 4));
      for (let index = 0; index < words.length; index++) words[index] = nextWord();
      return Buffer.from(words.buffer, 0, count);
    },
  };
}
