import type { Random } from "./random.ts";

/** One way to write an address into a page. */
export interface Writing {
  kind: string;
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

const link = (href: string, text: string, more = "") => `<a ${more}href="${href}">${text}</a>`;
const references = (text: string) => [...text].map((letter) => `&#${letter.codePointAt(0)};`).join("");
const hexReferences = (text: string) =>
  [...text].map((letter) => `&#x${letter.codePointAt(0)?.toString(16)};`).join("");
const ENVELOPE =
  '<svg width="16" height="16" viewBox="0 0 24 24" aria-hidden="true"><path d="M2 4h20v16H2z"/></svg>';

export const WRITINGS: readonly Writing[] = [
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
];

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
