import { parseAddress, parseMailboxes } from "@outrigger/core/lookup";

/** An address at a place of a text. */
export interface WrittenAddress {
  start: number;
  end: number;
  address: string;
}

const MAX_LOCAL = 64;
const MAX_DOMAIN = 253;
/** Characters of real addresses. Further ones that the standard allows are punctuation in texts. */
const LOCAL = /[\p{L}\p{M}\p{N}._+'’&~-]/u;
const DOMAIN_START = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}.-]*[\p{L}\p{N}]/u;
/** The start of a URL with credentials, of a path or of a package; of a command that takes a host. */
const NOT_BEFORE =
  /\/\/\S*$|\b(?:sips?|uid|message-id|xmpp|jabber|acct|matrix|skype|im|irc|ssh|git):\s?$|[/@]$|\b(?:ssh|s?ftp|scp|rsync|telnet|mosh)(?: -\S+(?: \d+)?)*\s$/i;
/** A path of a remote repository, a path of a URL, the end of a prompt. */
const NOT_BEHIND = /^(?::[~/\w.]|\/[^\s@]*(?:\s|$)| ?~?[$#%](?:\s|$)| ~\])/;
/** Top-level domains that are extensions of files. */
const FILE = /\.(?:png|jpe?g|gif|svg|webp|avif|ico|css|m?js|json|map|woff2?|ttf|pdf|html?)$/;
/** Made-up people of forms and of descriptions of patterns. */
const PLACEHOLDER =
  /^(?:you|(?:[a-z]|initials?)[._-]?(?:last|sur|family|nach)name|your[._-]?(?:name|e?mail)|(?:user|full)?[._-]?name|user|e-?mail|e?mail[._-]?address|some(?:one|body|name)|example|beispiel|exemple|ejemplo|esempio|voorbeeld|przyklad|xyz|abc|xx+|(?:first|given|last|family|fore)(?:name)?[._-]?(?:last|sur|first|given|family)?(?:name)?|name[._-]surname|(?:vor|nach)name[._-]?(?:vor|nach|familien)?(?:name)?|prenom[._-]?nom|nom[._-]?prenom|nombre[._-]?apellidos?|nome[._-]?(?:cognome|sobrenome|apelido)|voornaam[._-]?achternaam|f[oö]rnamn[._-]?efternamn|fornavn[._-]?etternavn|imie[._-]?nazwisko|jmeno[._-]?prijmeni|m(?:ax|ar?ia|uster)[._-]?mustermann|erika[._-]?mustermann|(?:john|jane|joe)[._-]?doe)$/i;

/** A part that people are asked to remove. */
const INSERTED = /no[-._]?spam|remove[-._]?(?:this|me)|anti-?spam|spamfrei/i;
/** The identifier of a message. */
const MACHINE = /^(?:\d{8,}[.T-][\w.-]+|[\da-f.-]{20,})$/;

/** The addresses of a text, of any domain, without those in URLs, prompts and remotes of repositories, and without placeholders. */
export function plainAddresses(text: string): WrittenAddress[] {
  const found: WrittenAddress[] = [];
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    let from = at;
    while (from > at - MAX_LOCAL && LOCAL.test(text.charAt(from - 1))) from -= 1;
    const local = ownScript(text.slice(from, at).replace(/^[^\p{L}\p{N}_]+/u, ""));
    const domain = DOMAIN_START.exec(text.slice(at + 1, at + 1 + MAX_DOMAIN))?.[0];
    if (local === "" || domain === undefined || !domain.includes(".")) continue;
    const [start, end] = [at - local.length, at + 1 + domain.length];
    if (NOT_BEFORE.test(text.slice(Math.max(0, start - 100), start))) continue;
    if (NOT_BEHIND.test(text.slice(end, end + 100))) continue;
    const address = keptAddress(`${local}@${domain}`);
    if (address !== null) found.push({ start, end, address });
  }
  return found;
}

/** `null` for a text that is not an address, and for a placeholder. */
export function keptAddress(text: string): string | null {
  const parsed = parseAddress(text);
  return parsed === null ||
    PLACEHOLDER.test(parsed.local) ||
    MACHINE.test(parsed.local) ||
    INSERTED.test(parsed.address) ||
    FILE.test(parsed.domain)
    ? null
    : parsed.address;
}

/** Latin letters are no part of a word of another script before them: `邮箱ada`. */
function ownScript(local: string): string {
  return /[\w]$/.test(local) ? (/[\p{Script=Latin}\p{M}\p{N}._+'’&~-]+$/u.exec(local)?.[0] ?? "") : local;
}

/** A recipient of a link. */
export interface Recipient {
  address: string;
  name: string | null;
  /** One of several, or of a copy: the text beside the link is of another person. */
  isAside: boolean;
}

/** The recipients of a `mailto:` URL; none for a link that shares a page. */
export function recipientsOf(href: string): Recipient[] {
  const [, to = "", query = ""] = /^\s*mailto:\/{0,2}([^?]*)\??(.*)$/is.exec(href) ?? [];
  const fields = [...new URLSearchParams(query.replaceAll("+", "%2B").replaceAll("&amp;", "&"))];
  const copies = fields.flatMap(([field, value]) => (/^(?:to|cc|bcc)$/i.test(field) ? [value] : []));
  return [decoded(to), ...copies].flatMap((list, field) =>
    parseMailboxes(list).flatMap(({ address: { address }, name }, _, all) =>
      keptAddress(address) === null &&
      !/^(?:you|(?:[a-z]|initials?)[._-]?(?:last|sur|family|nach)name|user|abc|xyz)@/.test(address)
        ? []
        : [{ address, name, isAside: field > 0 || all.length > 1 }],
    ),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // An address with a percent sign.
  }
}
