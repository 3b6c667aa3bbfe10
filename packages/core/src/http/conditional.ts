import type { IncomingHttpHeaders } from "node:http";
import type { ByteRange } from "../contracts/blob-store.ts";

/** The validators that a conditional request is compared with. */
export interface Validators {
  /** Strong entity tag with its quotes. */
  etag: string;
  /** Milliseconds; compared in whole seconds, the precision of `Last-Modified`. */
  lastModifiedMs: number;
}

export type Precondition = "proceed" | "not_modified" | "failed";

/** Whether a request has preconditions. */
export function isConditional(headers: IncomingHttpHeaders): boolean {
  return (
    headers["if-none-match"] !== undefined ||
    headers["if-modified-since"] !== undefined ||
    headers["if-match"] !== undefined ||
    headers["if-unmodified-since"] !== undefined
  );
}

/**
 * Evaluates the preconditions of a request in the order of RFC 9110 §13.2.2.
 *
 * @param nowMs A later `If-Modified-Since` is invalid and ignored (RFC 2616 §14.25).
 */
export function evaluatePreconditions(
  method: string,
  headers: IncomingHttpHeaders,
  current: Validators,
  nowMs: number = Date.now(),
): Precondition {
  const isRead = method === "GET" || method === "HEAD";
  const ifMatch = headers["if-match"];
  if (ifMatch !== undefined) {
    if (!matchesStrongly(ifMatch, current.etag)) return "failed";
  } else if (headers["if-unmodified-since"] !== undefined) {
    const since = parseHttpDate(headers["if-unmodified-since"]);
    if (since !== null && toSeconds(current.lastModifiedMs) > since) return "failed";
  }
  const ifNoneMatch = headers["if-none-match"];
  if (ifNoneMatch !== undefined) {
    if (matchesWeakly(ifNoneMatch, current.etag)) return isRead ? "not_modified" : "failed";
  } else if (isRead && headers["if-modified-since"] !== undefined) {
    const since = parseHttpDate(headers["if-modified-since"]);
    const isValid = since !== null && since <= toSeconds(nowMs);
    if (isValid && toSeconds(current.lastModifiedMs) <= since) return "not_modified";
  }
  return "proceed";
}

/** Whether this `If-Range` allows a partial answer to a `Range` (RFC 9110 §13.1.5). */
export function ifRangeHolds(headers: IncomingHttpHeaders, current: Validators): boolean {
  const condition = headers["if-range"];
  if (typeof condition !== "string") return true;
  if (condition.includes('"')) return condition.trim() === current.etag;
  return parseHttpDate(condition) === toSeconds(current.lastModifiedMs);
}

function matchesStrongly(list: string, etag: string): boolean {
  return list.trim() === "*" || entityTags(list).includes(etag);
}

function matchesWeakly(list: string, etag: string): boolean {
  return list.trim() === "*" || entityTags(list).some((tag) => tag === etag || tag === `W/${etag}`);
}

function entityTags(list: string): string[] {
  return list.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g) ?? [];
}

const HTTP_DATE = /^[A-Z][a-z]{2,8},? [\w: -]+( GMT)?$/;

/**
 * Seconds since the epoch; `null` for text that is not an HTTP date (RFC 9110 §5.6.7), which is then ignored.
 */
export function parseHttpDate(text: string): number | null {
  if (!HTTP_DATE.test(text)) return null;
  // The obsolete asctime form has no zone and means GMT.
  const ms = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(ms) ? null : toSeconds(ms);
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

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
