import { domainToUnicode } from "node:url";
import { decoded, keptAddress, plainAddresses, type WrittenAddress } from "./find-addresses.ts";

/** Words for the two signs, by language. */
const AT =
  "at|ät|æt|et|klammeraffe|affenschwanz|aroba[sz]e?|arroba|arob|arond|chiocciol(?:a|ina)|ape[n]?staart(?:je)?|snabel-?a|kanelbulle|" +
  "krøllalfa|alfakrøll|kissanhäntä|miuku(?:mauku)?|małpa|malpa|zavin[aá][cč]|kukac|coad[aă] de maimu[tț][aă]|majmun|afna|παπ[αά]κι|" +
  "собачка|собака|собак|равлик|песик|эт|ет|маймунско а|アットマーク|アット|あっと|골뱅이|艾特|小老鼠|@|＠";
const DOT =
  "dot|punkt|punktum|punctum|punto|punct|point|ponto|punt|piste|prick|kropka|te[cč]ka|bodka|pont|pika|nokta|точка|крапка|τελε[ιί]α|" +
  "ドット|点|點|점|닷|period|\\.|。|．";
/** In brackets, or between blanks; more of them in brackets only. */
const token = (words: string, more = "") =>
  `(?: ?[\\[({<«|*_"'=~/#^-]{1,3} ?(?:${words}${more}) ?[\\])}>»|*_"'=~/#^-]{1,3} ?| (?:${words}) )`;
const DOTTED = token(DOT);
const SIGN_BEFORE = new RegExp(
  `(${token(AT, "|a|à|ä")}| ?[@＠] ?)((?:[a-z0-9-]{1,40}(?:${DOTTED}|\\.)){0,3})$`,
  "iu",
);
const DOT_TOKEN = new RegExp(`${DOTTED}| ?\\. ?`, "giu");
const NEXT_DOT = new RegExp(DOT_TOKEN.source, "iuy");
const PLAIN_HOST = /^[\p{L}\p{N}.-]+$/u;
const WORD = "[\\p{L}\\p{N}_+-][\\p{L}\\p{M}\\p{N}_+-]{0,40}";
const LOCAL_BEFORE = new RegExp(`(?:${WORD}(?:\\.|${DOTTED})){0,4}${WORD}$`, "iu");
const MAX_BEFORE = 120;
/** These words alone between blanks belong to a sentence, unless the address stands by itself. */
const SENTENCE = /^ ?(?:at|ät|æt|et|эт|ет|@) ?$/iu;
const STANDS_ALONE = { before: /(?:^|[^\p{L}\p{N} ] ?)$/u, behind: /^ ?(?:[^\p{L}\p{N} ]|$)/u };
/** A part that people are asked to remove. */
const INSERTED = /[-._]?(?:no[-._]?spam|remove(?:[-._]?(?:this|me))?|anti-?spam|spamfrei)[-._]?/i;
/** A page with more has none that matter. */
const MAX_FOUND = 5000;
const MAX_VALUE = 1000;
const MAX_VALUES = 10;
const USER = /user|name$|local|login|account|part1|box|^data-[uln]$|first|left|before/i;

/**
 * Finds the addresses of one domain and its subdomains that texts and attributes obfuscate. Scripts, ciphers and pictures are
 * not read.
 */
export class HiddenAddresses {
  readonly #domain: string;
  /** Labels of the domain in lower case, as people and as servers write it. */
  readonly #spellings: readonly (readonly string[])[];

  constructor(domain: string) {
    this.#domain = domain;
    this.#spellings = [...new Set([domain, domainToUnicode(domain)])].map((each) => each.split("."));
  }

  /** `ada [at] acme [dot] example`, with words of many languages; `ada @ acme.example`. */
  inText(text: string): WrittenAddress[] {
    const found: WrittenAddress[] = [];
    // The only letter with a longer lower case.
    const lower = text.replaceAll("İ", "I").toLowerCase();
    for (const labels of this.#spellings) {
      const [first = ""] = labels;
      for (
        let at = lower.indexOf(first);
        at !== -1 && found.length < MAX_FOUND;
        at = lower.indexOf(first, at + 1)
      ) {
        const end = endOfHost(lower, at, labels);
        const address = end === null ? null : this.#before(text, at, end);
        if (address !== null) found.push(address);
      }
    }
    return found;
  }

  #before(text: string, at: number, end: number): WrittenAddress | null {
    const host = text.slice(at, end);
    if (text.charAt(at - 1) === "@" && PLAIN_HOST.test(host) && !/\s/.test(text.charAt(at - 2))) return null;
    const before = text.slice(Math.max(0, at - MAX_BEFORE), at);
    const [tail, sign = "", subdomains = ""] = SIGN_BEFORE.exec(before) ?? [];
    const isPlainHost = PLAIN_HOST.test(subdomains + host);
    if (tail === undefined || (sign === "@" && isPlainHost)) return null;
    const [local] = LOCAL_BEFORE.exec(before.slice(0, -tail.length)) ?? [];
    if (local === undefined) return null;
    const start = at - tail.length - local.length;
    const isAlone =
      STANDS_ALONE.before.test(text.slice(Math.max(0, start - 3), start)) &&
      STANDS_ALONE.behind.test(text.slice(end, end + 2));
    if (SENTENCE.test(sign) && isPlainHost && !isAlone && !/[._\d]/.test(local)) return null;
    const address = keptAddress(withoutInserted(`${local}@${subdomains}${host}`.replaceAll(DOT_TOKEN, ".")));
    return address === null ? null : { start, end, address };
  }

  /** Addresses in attributes: Cloudflare's encoding, texts, and a user and a host in two of them. */
  inAttributes(attributes: ReadonlyMap<string, string>): string[] {
    const found: (string | null)[] = [];
    const values = new Map<string, string>();
    for (const [name, value] of attributes) {
      if (!/^(?:data-|on|title$|rel$|href$|aria-label$|alt$)/.test(name)) continue;
      const [, hex] = name === "href" ? (/email-protection#([\da-f]+)$/i.exec(value) ?? []) : [];
      if (name === "data-cfemail" || hex !== undefined) found.push(deciphered(hex ?? value));
      if (value.length > MAX_VALUE) continue;
      if (name === "href" && !/^\s*(?:javascript|mailto):/i.test(value)) continue;
      if (/^(?:data-|rel|title)/.test(name)) values.set(name, value.trim());
      if (name === "href" && plainAddresses(value).length > 0 && /^\s*mailto/i.test(value)) continue;
      // Strings that a handler joins.
      const text = decoded(value)
        .replaceAll(/["'`]\s*\+\s*["'`]/g, "")
        .replace(/^.*mailto:\/{0,2}/i, "");
      for (const each of [...plainAddresses(text), ...this.inText(text)]) found.push(each.address);
    }
    found.push(this.#inPair([...values].slice(0, MAX_VALUES)));
    return found.flatMap((address) => (address === null ? [] : [withoutInserted(address)]));
  }

  /** `data-user="ada" data-domain="acme" data-tld="example"` in any order, also written backwards. */
  #inPair(values: readonly (readonly [name: string, value: string])[]): string | null {
    if (values.length < 2) return null;
    for (const turn of [(text: string) => text, (text: string) => [...text].reverse().join("")]) {
      const texts = values.map(([, value]) => turn(value).replace(/^@|^\.|@$/g, ""));
      for (const [index, text] of texts.entries()) {
        if (USER.test(values[index]?.[0] ?? "")) continue;
        const pairs = texts.flatMap((tail, other) =>
          other === index || (this.#isOwn(tail) && !/domain|host|server/i.test(values[index]?.[0] ?? ""))
            ? []
            : [{ host: `${text}.${tail}`, other }],
        );
        const hosted = [{ host: text, other: index }, ...pairs].find(({ host }) =>
          this.#isOwn(host.toLowerCase()),
        );
        if (hosted === undefined) continue;
        const locals = values.flatMap(([name], at) =>
          at === index || at === hosted.other || !/^[\p{L}\p{N}][\p{L}\p{N}._+-]*$/u.test(texts[at] ?? "")
            ? []
            : [{ name, local: texts[at] ?? "" }],
        );
        const user = locals.find(({ name }) => USER.test(name)) ?? locals[0];
        if (user !== undefined) return keptAddress(`${user.local}@${hosted.host}`);
      }
    }
    return null;
  }

  #isOwn(host: string): boolean {
    return host === this.#domain || host.endsWith(`.${this.#domain}`);
  }
}

/** Where a host that begins at an offset ends; `null` for another text. */
function endOfHost(lower: string, at: number, [first = "", ...labels]: readonly string[]): number | null {
  let end = at + first.length;
  for (const label of labels) {
    NEXT_DOT.lastIndex = end;
    end += NEXT_DOT.exec(lower)?.[0].length ?? 0;
    if (NEXT_DOT.lastIndex === 0 || !lower.startsWith(label, end)) return null;
    end += label.length;
  }
  return /[\p{L}\p{N}-]/u.test(lower.charAt(end)) ? null : end;
}

/** The address without the part that people are asked to remove; the same text without such a part. */
export function withoutInserted(address: string): string {
  const short = address.replace(INSERTED, (part, at: number) =>
    /^\./.test(part) && at > 0 && part.endsWith(".") ? "." : "",
  );
  return short.startsWith("@") ? address : short;
}

/** Cloudflare's encoding: the first byte is the key of the others. */
function deciphered(hex: string): string | null {
  const [key = 0, ...bytes] = Buffer.from(hex.trim(), "hex");
  return keptAddress(
    Buffer.from(bytes.map((byte) => byte ^ key))
      .toString()
      .replace(/\?.*/s, ""),
  );
}
