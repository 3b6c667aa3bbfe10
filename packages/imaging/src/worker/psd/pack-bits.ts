/** Up to this many bytes a loop is faster than a call into the runtime. */
const LOOP_BYTES = 32;

/**
 * Unpacks PackBits into exactly `length` bytes of `target`. Further bytes of the source are ignored.
 *
 * Source: TIFF 6.0, section 9.
 *
 * @returns whether the source held enough bytes.
 */
export function unpackBits(
  source: Buffer,
  start: number,
  end: number,
  target: Buffer,
  length: number,
): boolean {
  let from = start;
  let to = 0;
  while (to < length && from < end) {
    const control = source[from++] ?? 0;
    if (control < 128) {
      const count = Math.min(control + 1, length - to);
      if (from + count > end) return false;
      copyBytes(source, from, target, to, count);
      from += control + 1;
      to += count;
    } else if (control > 128) {
      if (from >= end) return false;
      const stop = Math.min(to + 257 - control, length);
      fillBytes(source[from++] ?? 0, target, to, stop);
      to = stop;
    }
  }
  return to === length;
}

/** The maximum bytes that PackBits produces for `length` bytes. */
export function maxPackedBytes(length: number): number {
  return length + Math.ceil(length / 128);
}

/**
 * Packs `length` bytes of `source` into `target` at `targetStart`, where {@link maxPackedBytes} must be free.
 *
 * @returns the position after them.
 */
export function packBits(source: Buffer, length: number, target: Buffer, targetStart: number): number {
  let to = targetStart;
  let from = 0;
  while (from < length) {
    const run = runLength(source, from, length);
    if (run > 2) {
      target[to++] = 257 - run;
      target[to++] = source[from] ?? 0;
      from += run;
      continue;
    }
    const end = literalEnd(source, from, length);
    target[to++] = end - from - 1;
    copyBytes(source, from, target, to, end - from);
    to += end - from;
    from = end;
  }
  return to;
}

/** The number of equal bytes from `start`, at most 128. */
function runLength(source: Buffer, start: number, length: number): number {
  const value = source[start];
  const stop = Math.min(start + 128, length);
  let end = start + 1;
  while (end < stop && source[end] === value) end++;
  return end - start;
}

/** The end of the literal run that begins at `start`: at three equal bytes, or after 128 bytes. */
function literalEnd(source: Buffer, start: number, length: number): number {
  const stop = Math.min(start + 128, length);
  let end = start + 1;
  while (end < stop && !beginsRun(source, end, length)) end++;
  return end;
}

function beginsRun(source: Buffer, start: number, length: number): boolean {
  const value = source[start];
  return start + 2 < length && source[start + 1] === value && source[start + 2] === value;
}

function copyBytes(source: Buffer, from: number, target: Buffer, to: number, count: number): void {
  if (count > LOOP_BYTES) source.copy(target, to, from, from + count);
  else for (let index = 0; index < count; index++) target[to + index] = source[from + index] ?? 0;
}

function fillBytes(value: number, target: Buffer, start: number, end: number): void {
  if (end - start > LOOP_BYTES) target.fill(value, start, end);
  else for (let index = start; index < end; index++) target[index] = value;
}
