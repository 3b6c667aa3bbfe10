import { MAX_PIECES, type Piece } from "../shared/wire.ts";

/**
 * Describes a cleaned file for the host, which has the source: most of it as ranges of the source, the rest as new
 * bytes.
 */
export function describePieces(source: Buffer, file: readonly Buffer[]): { pieces: Piece[]; bytes: Buffer } {
  const pieces: Piece[] = [];
  const added: Buffer[] = [];
  let addedBytes = 0;
  for (const part of file) {
    const start = startWithin(source, part);
    if (start === null) {
      append(pieces, ["reply", addedBytes, addedBytes + part.length]);
      added.push(part);
      addedBytes += part.length;
    } else append(pieces, ["source", start, start + part.length]);
  }
  if (pieces.length <= MAX_PIECES) return { pieces, bytes: Buffer.concat(added) };
  const bytes = Buffer.concat(file);
  return { pieces: [["reply", 0, bytes.length]], bytes };
}

/** Adds a piece, joined to the last one where it continues it. */
function append(pieces: Piece[], [of, start, end]: Piece): void {
  const last = pieces.at(-1);
  if (last?.[0] === of && last[2] === start) pieces[pieces.length - 1] = [of, last[1], end];
  else pieces.push([of, start, end]);
}

/** Where `part` begins in `source`; `null` if it has memory of its own. */
function startWithin(source: Buffer, part: Buffer): number | null {
  const start = part.byteOffset - source.byteOffset;
  const isPart = part.buffer === source.buffer && start >= 0 && start + part.length <= source.length;
  return isPart ? start : null;
}
