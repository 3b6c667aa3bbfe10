import { parseAddress } from "@outrigger/core/lookup";
import PostalMime from "postal-mime";
import type { SmtpIdentity } from "./prober-options.ts";
import { readRecipientRefusal } from "./smtp/read-refusal.ts";

/** What a message says about mail to one address. */
export interface DeliveryReport {
  /** The address that the mail was sent to, normalised. */
  address: string;
  kind: "bounced" | "delivered" | "complained";
  /** Enhanced status code; `null` for a complaint. */
  code: string | null;
}

/** The rest of a message is ignored. It has the returned mail, which may be large; a report precedes it. */
const MAX_BYTES = 256 * 1024;
const MAX_LINES = 10_000;
/** Enough for some hundred recipients. */
const MAX_FIELD_BYTES = 128 * 1024;
const MAX_REPLY_LENGTH = 500;
/** The original mail may itself be a report, and is not read. */
const MIME_LIMITS = { forceRfc822Attachments: true, maxNestingDepth: 16, maxHeadersSize: 256 * 1024 };
const REPORT_TYPE = /^message\/(?:(?:global-)?delivery-status|feedback-report)$/;
/** Not `not-spam`, which withdraws a complaint, nor `auth-failure`, which no person sent. */
const COMPLAINT = /^(?:abuse|fraud|opt-out|opt-out-list|miscategorized|virus|other)$/i;
const OF_MAILBOX = /^5\.1\.(?:1|6|10)$/;
/** The reply of another server, or words of the reporting one: its codes, if any, and its text. */
const REPLY =
  /^(?:(?:[sl]mtp|x-[\w-]+) *[;:])? *(?:(?:host )?\S+ said: *)?(?:([45]\d\d)\b[ -]*)?(?:#?([45]\.\d{1,3}\.\d{1,3})\b)?[ -]*(.*)$/is;

/**
 * Reads a delivery status notification (RFC 3464, 6533) or a complaint (RFC 5965), as a mail server sends it to the sender of a
 * mail. One result for each recipient whose mail finally failed or arrived. Of a failure, `code` is 5.1.1, 5.1.6 or 5.1.10 only if
 * the reply of the mail server can speak of nothing but the mailbox, and the mail was not forwarded to another one. An alias that
 * reached one of its mailboxes has not failed. Anyone can send such a message: read only those to an address that
 * you gave as the sender of a mail.
 * @param message as received; its first 256 KiB or 10,000 lines are read.
 * @returns none for any other message, also for one that is malformed.
 */
export async function parseDeliveryReport(message: Uint8Array | string): Promise<DeliveryReport[]> {
  const bytes = Buffer.from(
    typeof message === "string" ? message.slice(0, MAX_BYTES) : message.subarray(0, MAX_BYTES),
  );
  const lines = bytes.toString("latin1").split("\n", MAX_LINES);
  const start = Buffer.from(lines.join("\n"), "latin1");
  const email = await PostalMime.parse(start, MIME_LIMITS).catch(() => null);
  const part = email?.attachments.find(({ mimeType }) => REPORT_TYPE.test(mimeType));
  if (part === undefined || typeof part.content === "string") return [];
  const isComplaint = part.mimeType === "message/feedback-report";
  const groups = groupsOf(part.content);
  const reporter = groups.flat().find(([name]) => name === "reporting-mta")?.[1] ?? "";
  const sender: SmtpIdentity = {
    helo: /; *([^ ()]+)/.exec(reporter)?.[1] ?? "",
    mailFrom: email?.to?.[0]?.address ?? "",
  };
  const reports = groups.flatMap((fields) => (isComplaint ? complaintsOf(fields) : statusOf(fields, sender)));
  const arrived = new Set(reports.flatMap(({ kind, address }) => (kind === "delivered" ? [address] : [])));
  const final = reports.filter(({ kind, address }) => kind !== "bounced" || !arrived.has(address));
  return [...new Map(final.map((report) => [JSON.stringify(report), report])).values()];
}

type Field = [name: string, value: string];

/** The groups of fields, which empty lines separate. */
function groupsOf(content: ArrayBuffer | Uint8Array): Field[][] {
  const text = new TextDecoder().decode(content.slice(0, MAX_FIELD_BYTES)).replace(/\r\n?/g, "\n");
  const groups = text.split(/\n[ \t]*\n/).map((group) => group.replace(/\n[ \t]+/g, " ").split("\n"));
  return groups.map((lines) =>
    lines.map((line): Field => {
      const at = line.indexOf(":");
      return [line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()];
    }),
  );
}

function statusOf(fields: Field[], sender: SmtpIdentity): DeliveryReport[] {
  const first = (name: string) => fields.find(([one]) => one === name)?.[1] ?? "";
  const final = addressOf(first("final-recipient"));
  const address = addressOf(first("original-recipient")) ?? final;
  const [action] = /^(?:failed|delivered)\b/i.exec(first("action")) ?? [];
  const [status = null] = /^[245]\.\d{1,3}\.\d{1,3}\b/.exec(first("status")) ?? [];
  if (address === null || action === undefined) return [];
  if (action.toLowerCase() === "delivered") return [{ address, kind: "delivered", code: status }];
  const code = codeOf(status, first("diagnostic-code"), final ?? address, sender);
  // The code speaks of the mailbox that the mail was forwarded to.
  const isForwarded = final !== null && final !== address && OF_MAILBOX.test(code ?? "");
  return [{ address, kind: "bounced", code: isForwarded ? "5.0.0" : code }];
}

/** Some servers derive the status from the class of a reply only. What the other server said takes precedence. */
function codeOf(status: string | null, diagnostic: string, address: string, sender: SmtpIdentity) {
  const [, code, enhanced, text = ""] = REPLY.exec(diagnostic) ?? [];
  if ((code ?? enhanced ?? text) === "") return status;
  const [, local = "", domain = ""] = /^(.*)@(.*)$/s.exec(address) ?? [];
  const lines = [Buffer.from(text.slice(0, MAX_REPLY_LENGTH)).toString("latin1")];
  const reply = { code: Number(code ?? "550"), enhancedCode: enhanced ?? null, lines };
  const { reason } = readRecipientRefusal(reply, { ...sender, local, domain });
  const said = enhanced ?? status;
  const isUnknown = reason === "user_unknown";
  if (OF_MAILBOX.test(said ?? "")) return isUnknown ? said : "5.0.0";
  // Only the server of the mailbox can say that it does not exist.
  return isUnknown && code !== undefined ? "5.1.1" : said;
}

function complaintsOf(fields: Field[]): DeliveryReport[] {
  if (!fields.some(([name, value]) => name === "feedback-type" && COMPLAINT.test(value))) return [];
  return fields.flatMap(([name, value]) => {
    const address = name === "original-rcpt-to" ? addressOf(`rfc822; ${value}`) : null;
    return address === null ? [] : [{ address, kind: "complained" as const, code: null }];
  });
}

/** The address of `rfc822; ann@one.example`, of `utf-8; ä@one.example` or of its form in ASCII, `\x{E4}@one.example`. */
function addressOf(recipient: string): string | null {
  const [, type, written = ""] = /^(rfc822|utf-8) *; *<?([^<>]*)>?/i.exec(recipient) ?? [];
  const plain = written.trim().replace(/\\x\{([0-9A-F]{2,6})\}/gi, (whole, hex: string) => {
    const point = Number.parseInt(hex, 16);
    return type?.toLowerCase() === "utf-8" && point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
  return parseAddress(plain)?.address ?? null;
}
