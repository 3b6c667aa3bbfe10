import type { ByteRange } from "../contracts/blob-store.ts";

/** The whole, one part of it, or nothing that exists. */
export type RangeChoice = "whole" | "unsatisfiable" | ByteRange;

const ONE_RANGE = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i;

/**
 * Reads a `Range` header (RFC 9110 §14.1.2, §14.2). Several parts, other units and malformed headers give the whole, as
 * the RFC allows: one part is all that download managers and players ask for.
 */
export function chooseRange(header: string | undefined, size: number): RangeChoice {
  const match = header === undefined ? null : ONE_RANGE.exec(header);
  if (match === null) return "whole";
  const [, first = "", last = ""] = match;
  if (first === "") {
    if (last === "") return "whole";
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return "whole";
  if (start >= size) return "unsatisfiable";
  return {
    start,
    end: last === "" ? size - 1 : Math.min(Number(last), size - 1),
  };
}
