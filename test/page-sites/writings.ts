import type { Language } from "./language.ts";
import type { Random } from "./random.ts";

/**
 * Who can read an address: `readable`, everybody; `split`, a reader of the tree, by markup inside the address; `hidden`,
 * a reader of obfuscated text and attributes; `closed`, only a reader of scripts, ciphers or pictures.
 */
export type Visibility = "readable" | "split" | "hidden" | "closed";

/** One way to write an address into a page. */
export interface Writing {
  kind: string;
  visibility: Visibility;
  /** HTML of the address. A writing `onName` makes a link of the name instead. */
  write(given: Written): string;
  isOnName?: boolean;
  /** Its HTML is text alone, which a sentence can have in its middle. */
  isText?: boolean;
}

export interface Written {
  address: string;
  local: string;
  domain: string;
  /** Of the person, in HTML; empty for a department. */
  name: string;
  random: Random;
  language: Language;
}

/** Text for HTML, also within quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

export function writings(
  visibility: Visibility,
  list: readonly Omit<Writing, "visibility">[],
): readonly Writing[] {
  return list.map((writing) => ({ ...writing, visibility }));
}

const link = (href: string, text: string, more = "") => `<a ${more}href="${href}">${text}</a>`;
const references = (text: string) => [...text].map((letter) => `&#${letter.codePointAt(0)};`).join("");
const hexReferences = (text: string) =>
  [...text].map((letter) => `&#x${letter.codePointAt(0)?.toString(16)};`).join("");
const reversed = (text: string) => [...text].reverse().join("");
const rot13 = (text: string) =>
  text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97));

/** Cloudflare's encoding: a key, and each byte XOR the key. */
export function cfemail(address: string, key: number): string {
  const bytes = [key, ...Buffer.from(address).map((byte) => byte ^ key)];
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const ENVELOPE =
  '<svg width="16" height="16" viewBox="0 0 24 24" aria-hidden="true"><path d="M2 4h20v16H2z"/></svg>';

export const READABLE = writings("readable", [
  { kind: "text", write: ({ address }) => address, isText: true },
  { kind: "mailto, address as text", write: ({ address }) => link(`mailto:${address}`, address) },
  {
    kind: "mailto with class",
    write: ({ address }) => link(`mailto:${address}`, address, 'class="mail" itemscope '),
  },
  {
    kind: "mailto with subject",
    write: ({ address, random }) => {
      const query = random.pick([
        "subject=Anfrage%20Website",
        "subject=Hello&amp;body=Hi%2C",
        "Subject=Question",
      ]);
      return link(`mailto:${address}?${query}`, address);
    },
  },
  {
    kind: "mailto with name",
    write: ({ address, name }) =>
      link(`mailto:${encodeURIComponent(name === "" ? "Office" : name)}%20%3C${address}%3E`, address),
  },
  {
    kind: "mailto behind a word",
    write: ({ address, random }) =>
      link(`mailto:${address}`, random.pick(["E-Mail", "Email", "Mail", "✉", "@", "Kontakt", "Send email"])),
  },
  {
    kind: "mailto behind an icon",
    write: ({ address }) => link(`mailto:${address}`, ENVELOPE, 'aria-label="E-Mail" '),
  },
  {
    kind: "mailto on the name",
    write: ({ address, name }) => link(`mailto:${address}`, name),
    isOnName: true,
  },
  { kind: "mailto, percent", write: ({ local, domain }) => link(`mailto:${local}%40${domain}`, "E-Mail") },
  {
    kind: "mailto, references",
    write: ({ address }) => link(hexReferences(`mailto:${address}`), references(address)),
  },
  { kind: "mailto, capitals", write: ({ address }) => link(`MAILTO:${address.toUpperCase()}`, address) },
  {
    kind: "mailto, blanks",
    write: ({ address }) => link(` mailto: ${address} `, `${address} `, 'target="_blank" '),
  },
  { kind: "text, reference", write: ({ local, domain }) => `${local}&#64;${domain}`, isText: true },
  { kind: "text, all references", write: ({ address }) => references(address), isText: true },
  { kind: "text in brackets", write: ({ address }) => `&lt;${address}&gt;`, isText: true },
  {
    kind: "text, capital letters",
    write: ({ local, domain }) => `${capital(local)}@${capital(domain)}`,
    isText: true,
  },
]);

export const SPLIT = writings("split", [
  { kind: "span around @", write: ({ local, domain }) => `${local}<span>@</span>${domain}` },
  { kind: "wbr", write: ({ local, domain }) => `${local}<wbr>@${domain}` },
  {
    kind: "wbr and span",
    write: ({ local, domain }) => `<span>${local}</span><wbr>@<wbr><span>${domain}</span>`,
  },
  { kind: "bold @", write: ({ local, domain }) => `${local}<b>@</b>${domain}` },
  {
    kind: "comment inside",
    write: ({ local, domain }) => `${local}<!-- no spam -->@<!-- please -->${domain}`,
  },
  {
    kind: "hidden span inside",
    write: ({ local, domain }) => `${local}<span style="display:none">nospam</span>@${domain}`,
  },
  {
    kind: "hidden span inside, by attribute",
    write: ({ local, domain }) => `${local}@<span hidden>remove.</span>${domain}`,
  },
]);

export const HIDDEN = writings("hidden", [
  {
    kind: "[at]",
    write: ({ local, domain, random }) => `${local}${random.pick([" [at] ", "[at]"])}${domain}`,
    isText: true,
  },
  {
    kind: "(at)",
    write: ({ local, domain, random }) => `${local}${random.pick(["(at)", " (at) "])}${domain}`,
    isText: true,
  },
  {
    kind: "at and dot",
    write: ({ local, domain, random }) => {
      const [at, dot] = random.pick([
        [" [at] ", " [dot] "],
        ["(at)", "(dot)"],
        [" AT ", " DOT "],
        [" {at} ", " {dot} "],
      ] as const);
      return `${local}${at}${domain.replaceAll(".", dot)}`;
    },
    isText: true,
  },
  {
    kind: "at in another language",
    write: ({ local, domain, random, language }) => `${local}${random.pick(language.at.split("|"))}${domain}`,
    isText: true,
  },
  {
    kind: "at and dot in another language",
    write: ({ local, domain, random, language }) => {
      const dot = random.pick(language.dot.split("|"));
      const at = random.pick(language.at.split("|"));
      return `${local}${at}${domain.replaceAll(".", dot)}`;
    },
    isText: true,
  },
  {
    kind: "cfemail on a span",
    write: ({ address, random }) =>
      `<span class="__cf_email__" data-cfemail="${cfemail(address, random.int(1, 255))}">[email&#160;protected]</span>`,
  },
  {
    kind: "cfemail on a link",
    write: ({ address, random }) =>
      link(
        "/cdn-cgi/l/email-protection",
        "[email&#160;protected]",
        `class="__cf_email__" data-cfemail="${cfemail(address, random.int(1, 255))}" `,
      ),
  },
  {
    kind: "cfemail in a link's path",
    write: ({ address, random }) =>
      link(`/cdn-cgi/l/email-protection#${cfemail(address, random.int(1, 255))}`, "E-Mail"),
  },
  {
    kind: "user and domain in attributes",
    write: ({ local, domain, random }) => {
      const [user, host] = random.pick([
        ["user", "domain"],
        ["name", "domain"],
        ["local", "host"],
        ["u", "d"],
      ] as const);
      return `<span class="email" data-${user}="${local}" data-${host}="${domain}"></span>`;
    },
  },
  {
    kind: "user, domain and top-level domain in attributes",
    write: ({ local, domain }) => {
      const cut = domain.indexOf(".");
      return link(
        "#",
        "E-Mail",
        `class="cryptedmail" data-name="${local}" data-domain="${domain.slice(0, cut)}" data-tld="${domain.slice(cut + 1)}" `,
      );
    },
  },
  {
    kind: "at in an attribute",
    write: ({ local, domain, random }) =>
      `<span class="mail" data-${random.pick(["email", "mail", "address"])}="${local}[at]${domain}"></span>`,
  },
  {
    kind: "at in mailto",
    write: ({ local, domain }) => link(`mailto:${local}[at]${domain}`, `${local}[at]${domain}`),
  },
  {
    kind: "reversed",
    write: ({ address }) =>
      `<span style="unicode-bidi:bidi-override; direction:rtl">${reversed(address)}</span>`,
  },
  { kind: "icon for @", write: ({ local, domain }) => `${local}<i class="fa fa-at"></i>${domain}` },
  {
    kind: "picture of @",
    write: ({ local, domain }) => `${local}<img src="/img/at.gif" alt="@" width="12">${domain}`,
  },
  {
    kind: "word in a span",
    write: ({ local, domain, random, language }) =>
      `${local}<span class="at">${random.pick(language.at.split("|"))}</span>${domain}`,
  },
]);

export const CLOSED = writings("closed", [
  {
    kind: "script, joined",
    write: ({ local, domain }) =>
      `<script>var u="${local}",d="${domain}";document.write('<a href="mailto:'+u+'@'+d+'">'+u+'@'+d+'</a>');</script>`,
  },
  {
    kind: "script, character codes",
    write: ({ address }) =>
      `<script>document.write(String.fromCharCode(${[...address].map((each) => each.charCodeAt(0))}))</script>`,
  },
  {
    kind: "rot13 in an attribute",
    write: ({ address }) => `<span class="rot" data-enc="${rot13(address)}"></span>`,
  },
  {
    kind: "base64 in an attribute",
    write: ({ address }) =>
      `<span class="protected" data-b64="${Buffer.from(address).toString("base64")}"></span>`,
  },
  {
    kind: "TYPO3 cipher",
    write: ({ address }) =>
      link(`javascript:linkTo_UnCryptMailto('${shifted(`mailto:${address}`)}');`, "E-Mail"),
  },
  { kind: "picture", write: ({ local }) => `<img src="/images/mail-${local.length}.png" alt="">` },
]);

function shifted(text: string): string {
  return text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + 1) % 26) + 97));
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
