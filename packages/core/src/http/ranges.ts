import type { ByteRange } from "../contracts/blob-store.ts";

/** The whole body, one part of it, or a range that does not exist. */
export type RangeChoice = "whole" | "unsatisfiable" | ByteRange;

const ONE_RANGE = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i;

/**
 * Reads a `Range` header (RFC 9110 §14.1.2, §14.2). Several ranges, other units and malformed headers give
 * the whole body, as the RFC allows. Download managers and players request only one range.
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
