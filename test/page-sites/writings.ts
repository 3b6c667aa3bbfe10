import type { Random } from "./random.ts";

/** `readable`: as a text or a link; `split`: by markup inside the address; `hidden`: obfuscated, so it may not be given. */
export type Visibility = "readable" | "split" | "hidden";

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

/** Cloudflare's encoding: a key, and each byte XOR the key. */
function cfemail(address: string, key: number): string {
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

/** One of each family: words for the @, attributes, ciphers, scripts and pictures. */
export const HIDDEN = writings("hidden", [
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
    kind: "@ in brackets",
    write: ({ local, domain, random }) => `${local}${random.pick(["[@]", "(@)", " [@] ", "{@}"])}${domain}`,
    isText: true,
  },
  {
    kind: "cfemail in a link's path",
    write: ({ address, random }) =>
      link(`/cdn-cgi/l/email-protection#${cfemail(address, random.int(1, 255))}`, "E-Mail"),
  },
  {
    kind: "user and domain in attributes",
    write: ({ local, domain }) => `<span class="email" data-user="${local}" data-domain="${domain}"></span>`,
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
  {
    kind: "picture of @",
    write: ({ local, domain }) => `${local}<img src="/img/at.gif" alt="@" width="12">${domain}`,
  },
  {
    kind: "script, joined",
    write: ({ local, domain }) =>
      `<script>var u="${local}",d="${domain}";document.write('<a href="mailto:'+u+'@'+d+'">'+u+'@'+d+'</a>');</script>`,
  },
  {
    kind: "script, whole address",
    write: ({ address }) => `<script>window.contactMail = "${address}";</script>`,
  },
  {
    kind: "base64 in an attribute",
    write: ({ address }) =>
      `<span class="protected" data-b64="${Buffer.from(address).toString("base64")}"></span>`,
  },
]);

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
