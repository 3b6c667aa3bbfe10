/// <reference path="./robots-parser.d.ts" />
import parseRobots from "robots-parser";
import { ROBOT } from "../extract/robots-tag.ts";

/** As many bytes of a robots.txt count; RFC 9309 §2.5 asks for 500 KiB. */
export const MAX_ROBOTS_BYTES = 512 * 1024;
/** Checking a path takes time proportional to its length times the characters of rules with a wildcard. */
const MAX_WILDCARD_CHARACTERS = 32 * 1024;

/** What the robots.txt of an origin permits. */
export interface RobotsRules {
  allows(url: URL): boolean;
  /** `Crawl-delay`, in milliseconds; 0 without one. */
  delayMs: number;
  sitemaps: readonly string[];
}

const NO_RULES = { delayMs: 0, sitemaps: [] };
/** For a robots.txt that does not exist (4xx). */
export const ALL_ALLOWED: RobotsRules = { ...NO_RULES, allows: () => true };
/** For a robots.txt that cannot be read (5xx, unreachable). */
export const NONE_ALLOWED: RobotsRules = { ...NO_RULES, allows: () => false };

const GROUP_LINE = /^\s*(?:user-agent|allow|disallow|crawl-delay)\s*:/i;
const UNRESERVED = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi;

/** Parses a robots.txt (RFC 9309). One with more wildcards than can be checked permits nothing. */
export function readRobots(origin: string, text: string): RobotsRules {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
  // The parser ends a group at any other line, and compares escaped characters with plain ones.
  const isOfGroup = (line: string) => GROUP_LINE.test(line);
  const wildcards = lines.reduce((sum, line) => sum + (line.includes("*") ? line.length : 0), 0);
  if (wildcards > MAX_WILDCARD_CHARACTERS) return NONE_ALLOWED;
  const sorted = [...lines.filter(isOfGroup).map(plainEscapes), ...lines.filter((line) => !isOfGroup(line))];
  const parsed = parseRobots(`${origin}/robots.txt`, sorted.join("\n"));
  const delay = parsed.getCrawlDelay(ROBOT) ?? 0;
  return {
    allows({ pathname, search }) {
      if (pathname === "/robots.txt") return true;
      // Encoded as the parser encodes its patterns.
      const path = encodeURI(plainEscapes(pathname + search)).replaceAll("%25", "%");
      return parsed.isAllowed(origin + path, ROBOT) !== false;
    },
    delayMs: delay > 0 ? delay * 1000 : 0,
    sitemaps: parsed.getSitemaps(),
  };
}

/** Escaped letters, digits, `-`, `.`, `_` and `~` as such: RFC 9309 §2.2.2 compares them so. */
function plainEscapes(text: string): string {
  return text.replace(UNRESERVED, decodeURIComponent);
}
