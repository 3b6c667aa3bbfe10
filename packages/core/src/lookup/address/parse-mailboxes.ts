import { type ParsedAddress, parseAddress } from "./parse-address.ts";

/** An address as people paste it, with the name beside it (RFC 5322: mailbox). */
export interface Mailbox {
  address: ParsedAddress;
  /** The display name or comment; `null` without one. */
  name: string | null;
}

/** Longer texts are rejected unread. */
const MAX_TEXT_LENGTH = 2000;
/** A display name and the opening bracket; an address, perhaps as a link or in quotes; a comment. */
const MAILBOX =
  /\s*(?:([^<>@[]{0,200}?)[<[(]\s*)?["']?(?:(mailto|smtp|e-?mail|mail)\s*:\s*)?([^\s<>()[\]",;:|@]{1,128}(?:@|%40)[^\s<>()[\]"',;:|@/?]{1,255})(?:\?[^\s<>[\]]*)?["']?(?:\s*[>\])]+)?(?:\s*\(([^()@]{1,200})\))?/iuy;
/** Nothing but another mailbox may follow without one of these. */
const SEPARATOR = /\s*(?:[,;|/\r\n\t]|:::)[\s,;|]*|\s*$|\s+(?=[<[(]?[^\s@]+@)/y;
const INVISIBLE = /[\u00AD\u200B-\u200D\u2060\uFEFF]/g;

/**
 * Reads an address, or a list of them, as mail programs and spreadsheets write them: `ada@example.com`,
 * `mailto:ada@example.com`, `Ada Lovelace <ada@example.com>`, `ada@example.com (Ada)`, `a@example.com; b@example.com`,
 * `a@example.com ::: b@example.com`. Each address occurs once.
 *
 * @returns The mailboxes before the first text that is none. Empty for `ada lovelace@example.com`, whose address is
 * uncertain. Never throws.
 */
export function parseMailboxes(text: string): Mailbox[] {
  const plain = parseAddress(text.trim());
  if (plain !== null) return [{ address: plain, name: null }];
  if (text.length > MAX_TEXT_LENGTH || !/@|%40/.test(text)) return [];
  const pasted = text.replaceAll(INVISIBLE, "");
  const found = new Map<string, Mailbox>();
  for (let at = 0; at < pasted.length; at = SEPARATOR.lastIndex) {
    MAILBOX.lastIndex = at;
    const [, name, scheme, written = "", comment] = MAILBOX.exec(pasted) ?? [];
    SEPARATOR.lastIndex = MAILBOX.lastIndex;
    const bare = written.replace(/^'/, "");
    const address = parseAddress(scheme === undefined ? bare : percentDecoded(bare));
    if (address === null || !SEPARATOR.test(pasted)) break;
    const known = found.get(address.address);
    found.set(address.address, { address, name: known?.name ?? displayName(name ?? comment) });
  }
  return [...found.values()];
}

/** The address of a text with one address, as people paste it; `null` for a text with none or several. */
export function pastedAddress(text: string): ParsedAddress | null {
  const [only, other] = parseMailboxes(text);
  return other === undefined ? (only?.address ?? null) : null;
}

/** A link writes special characters as `%2B` (RFC 6068). As written if that is not percent-encoded UTF-8. */
function percentDecoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    // Its percent signs are literal.
    return written;
  }
}

function displayName(text = ""): string | null {
  const name = text
    .replace(/^.*[;|\r\n]/s, "")
    .replaceAll(/\\(?=.)|"/g, "")
    .replace(/^[\s',]+|[\s',:]+$/g, "");
  return /\p{L}/u.test(name) ? name : null;
}
