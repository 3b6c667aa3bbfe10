import {
  ABOUT_US,
  RECIPIENT_RULES,
  type RefusalReason,
  type RefusalRule,
  SESSION_RULES,
} from "./refusal-rules.ts";
import type { SmtpReply } from "./smtp-reply.ts";

export interface Refusal {
  reason: RefusalReason;
  /** Whether it holds for good (5xx) rather than for now (4xx). */
  isPermanent: boolean;
  /** Whether it may be about the mailbox or about us. */
  isAmbiguous: boolean;
  /** What the server says of when to come back, in milliseconds, bounded; `null` where it does not. */
  retryAfterMs: number | null;
}

/** What comes after it is not read: nobody has so much to say, and to search it takes time. */
const MAX_TEXT_LENGTH = 2000;
const MIN_RETRY_MS = 30_000;
const MAX_RETRY_MS = 6 * 3_600_000;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** What a refused RCPT means. `names` are the local part and the domain asked about: servers repeat them, and they mean nothing. */
export function readRecipientRefusal(reply: SmtpReply, names: readonly string[]): Refusal {
  return apply(RECIPIENT_RULES, reply, names);
}

/** What a refusal means that came before RCPT. */
export function readSessionRefusal(reply: SmtpReply): Refusal {
  return apply(SESSION_RULES, reply, []);
}

function apply(rules: readonly RefusalRule[], reply: SmtpReply, names: readonly string[]): Refusal {
  const isPermanent = reply.code >= 500;
  const codes = [String(reply.code)];
  if (reply.enhancedCode !== null) codes.push(`${reply.code} ${reply.enhancedCode}`);
  const text = plainText(reply, names);
  const rule = rules.find(
    (one) => codes.some((code) => one.codes.test(code)) && (one.says === undefined || one.says.test(text)),
  );
  return {
    // A code of 2xx or 3xx where none makes sense.
    reason: rule?.reason ?? "protocol",
    isPermanent,
    isAmbiguous: rule?.isAmbiguous ?? false,
    retryAfterMs: isPermanent ? null : readDelay(text),
  };
}

/** The words alone: an address that is repeated must not be read as words. */
function plainText(reply: SmtpReply, names: readonly string[]): string {
  let text = reply.lines.join(" ").slice(0, MAX_TEXT_LENGTH).toLowerCase();
  text = text.replace(/<[^<>]*>/g, " ").replace(/\S*@\S*/g, " ");
  // Others stay: without the name of "user@", "no such user" would say nothing.
  for (const name of names) {
    if (ABOUT_US.test(name.toLowerCase())) text = text.replaceAll(name.toLowerCase(), " ");
  }
  return text.replace(/\s+/g, " ").trim();
}

function readDelay(text: string): number | null {
  // Postgrey and others write "00:04:58" or "4:58".
  const [, hours = "0", minutes, seconds] = /\b(?:(\d\d?):)?(\d\d?):(\d\d)\b/.exec(text) ?? [];
  if (minutes !== undefined) {
    return bounded(Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000);
  }
  const [, number, unit] = /\b(\d{1,5}) ?(s|m|h)(?:ec|in|our|r)?(?:ond|ute)?s?\b/.exec(text) ?? [];
  const unitMs = unit === undefined ? undefined : UNIT_MS[unit];
  return unitMs === undefined ? null : bounded(Number(number) * unitMs);
}

function bounded(delayMs: number): number {
  return Math.max(MIN_RETRY_MS, Math.min(MAX_RETRY_MS, delayMs));
}
