import type { OriginalType } from "@outrigger/core/images";
import { unreadable } from "../picture.ts";

/** More edits than any real file needs, and few enough to keep in memory. */
const MAX_EDITS = 100_000;

interface Edit {
  start: number;
  end: number;
  bytes: Buffer;
}

/** Removals and replacements of bytes of a file. The file itself is never written to. */
export class Edits {
  readonly #source: Buffer;
  readonly #type: OriginalType;
  readonly #edits: Edit[] = [];

  constructor(source: Buffer, type: OriginalType) {
    this.#source = source;
    this.#type = type;
  }

  get isEmpty(): boolean {
    return this.#edits.length === 0;
  }

  /** Removes the bytes from `start` up to `end`. */
  remove(start: number, end: number): void {
    const previous = this.#edits.at(-1);
    if (previous?.end === start && previous.bytes.length === 0) previous.end = end;
    else if (end > start) this.replace(start, end, Buffer.alloc(0));
  }

  /**
   * Replaces the bytes from `start` up to `end` with `bytes`, in any order of calls. Of overlapping edits, the one that
   * begins first and reaches farthest wins. Throws `unsupported_media` for too many edits.
   */
  replace(start: number, end: number, bytes: Buffer): void {
    if (this.#source.subarray(start, end).equals(bytes)) return;
    if (this.#edits.length === MAX_EDITS) {
      throw unreadable(this.#type, `it has more than ${MAX_EDITS} pieces to remove`);
    }
    this.#edits.push({ start, end, bytes });
  }

  /** The edited file, in pieces that share the memory of the source; `null` when nothing changes. */
  apply(): readonly Buffer[] | null {
    if (this.#edits.length === 0) return null;
    const pieces: Buffer[] = [];
    let position = 0;
    for (const { start, end, bytes } of this.#edits.toSorted(byPlace)) {
      if (start < position) continue;
      pieces.push(this.#source.subarray(position, start), bytes);
      position = end;
    }
    pieces.push(this.#source.subarray(position));
    return pieces.filter((piece) => piece.length > 0);
  }
}

function byPlace(some: Edit, other: Edit): number {
  return some.start - other.start || other.end - some.end;
}
