import type { SmtpIdentity } from "../prober-options.ts";
import {
  misleads,
  RECIPIENT_RULES,
  type RefusalReason,
  type RefusalRule,
  SESSION_RULES,
} from "./refusal-rules.ts";
import { foldText, isWordOfRefusals } from "./refusal-words.ts";
import type { SmtpReply } from "./smtp-reply.ts";

export interface Refusal {
  reason: RefusalReason;
  /** Whether the refusal is permanent (5xx) instead of temporary (4xx). */
  isPermanent: boolean;
  /** Whether it may be about the mailbox or about the sender. */
  isAmbiguous: boolean;
  /** The wait that the server gives, in milliseconds, within bounds; `null` if it gives none. */
  retryAfterMs: number | null;
}

/** Text beyond this length is ignored: real replies are shorter, and searching it takes time. */
const MAX_TEXT_LENGTH = 2000;
const MIN_RETRY_MS = 30_000;
const MAX_RETRY_MS = 6 * 3_600_000;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** The recipient of a refused RCPT, and the names by which the host knows this client. */
export interface Asked extends SmtpIdentity {
  local: string;
  domain: string;
}

/**
 * Classifies a refused RCPT. A refusal that names this client's host or sender concerns them. Servers repeat the
 * recipient, whose words are ignored.
 */
export function readRecipientRefusal(reply: SmtpReply, asked: Asked): Refusal {
  const refusal = classify(RECIPIENT_RULES, reply, [asked.local, asked.domain]);
  if (!refusal.isPermanent || !namesClient(reply, asked)) return refusal;
  return { ...refusal, reason: "policy", isAmbiguous: false };
}

/** Whether a refusal names the client's HELO name, its sender or the sender's domain. */
function namesClient(reply: SmtpReply, { local, domain, helo, mailFrom }: Asked): boolean {
  const recipient = `${local}@${domain}`.toLowerCase();
  const text = decodedText(reply).replaceAll(recipient, " ");
  const senderDomain = mailFrom.slice(mailFrom.lastIndexOf("@") + 1);
  return [mailFrom, senderDomain, helo].some((each) => {
    const name = each.toLowerCase();
    // Of the recipient's own domain, the host may speak for its own sake.
    if (name === recipient || name === domain || name === "" || domain.endsWith(`.${name}`)) return false;
    const at = text.indexOf(name);
    return (
      at !== -1 && !/[a-z0-9-]/.test(text.charAt(at - 1)) && !/[a-z0-9-]/.test(text.charAt(at + name.length))
    );
  });
}

/** Classifies a refusal before RCPT. */
export function readSessionRefusal(reply: SmtpReply): Refusal {
  return classify(SESSION_RULES, reply, []);
}

function classify(rules: readonly RefusalRule[], reply: SmtpReply, names: readonly string[]): Refusal {
  const codes = [String(reply.code)];
  if (reply.enhancedCode !== null) codes.push(`${reply.code} ${reply.enhancedCode}`);
  const text = plainText(reply, names);
  const rule = rules.find(
    (one) => codes.some((code) => one.codes.test(code)) && (one.says === undefined || one.says.test(text)),
  );
  // No rule matches an unexpected 2xx or 3xx.
  const reason = rule?.reason ?? "protocol";
  const isPermanent = reply.code >= 500 && reason !== "temporary";
  return {
    reason,
    isPermanent,
    isAmbiguous: rule?.isAmbiguous ?? false,
    retryAfterMs: isPermanent ? null : readDelay(text),
  };
}

/** The text without addresses: words in a repeated address must not match. A domain alone may be what is refused. */
function plainText(reply: SmtpReply, names: readonly string[]): string {
  let text = foldText(decodedText(reply))
    .replace(/<[^<>]*>/g, " ")
    .replace(/(?<![^\s(["'])[^\s(["']*@[\p{L}\p{N}.-]*/gu, " ");
  // Removing the name "user" would make "no such user" unreadable.
  for (const name of names) {
    const folded = foldText(name);
    if (misleads(folded)) text = text.replaceAll(folded, " ");
    else if (name !== names[1] && !isWordOfRefusals(folded)) {
      text = text.replace(/[\p{L}\p{N}][\p{L}\p{N}_.+-]*/gu, (word) =>
        word.replace(/[_.+-]+$/, "") === folded ? " " : word,
      );
    }
  }
  return text.replace(/\s+/g, " ").trim();
}

function decodedText(reply: SmtpReply): string {
  const text = reply.lines.join(" ");
  // Servers write UTF-8 or Latin-1, as which the reply was read.
  const utf8 = Buffer.from(text, "latin1").toString();
  const decoded = utf8.includes("\ufffd") ? text : utf8;
  return decoded.slice(0, MAX_TEXT_LENGTH).toLowerCase();
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
