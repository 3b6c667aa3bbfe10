import { writings } from "../writings.ts";

const link = (href: string, text: string, more = "") => `<a ${more}href="${href}">${text}</a>`;
const percents = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join("");

export const FURTHER_READABLE = writings("readable", [
  { kind: "text, point behind", write: ({ address }) => `${address}.`, isText: true },
  { kind: "text, label without a blank", write: ({ address }) => `E-Mail:${address}`, isText: true },
  {
    kind: "text in quotes",
    write: ({ address, random }) =>
      random.pick([`„${address}“`, `«${address}»`, `"${address}"`, `‹${address}›`]),
    isText: true,
  },
  {
    kind: "text, named references",
    write: ({ local, domain }) => `${local}&commat;${domain.replaceAll(".", "&period;")}`,
    isText: true,
  },
  { kind: "text in code", write: ({ address }) => `<tt>${address}</tt>` },
  {
    kind: "text in an element of its own",
    write: ({ address }) => `<span class="mail"><em>${address}</em></span>`,
  },
  {
    kind: "mailto, nested markup",
    write: ({ address }) =>
      link(
        `mailto:${address}`,
        `<span class="icon icon-mail" aria-hidden="true"></span><span class="sr-only">E-Mail</span>`,
        'class="btn" ',
      ),
  },
  {
    kind: "mailto, quoted name",
    write: ({ address, name }) =>
      link(`mailto:${encodeURIComponent(`"${name === "" ? "Office" : name}" <${address}>`)}`, "E-Mail"),
  },
  { kind: "mailto, all percent", write: ({ address }) => link(`mailto:${percents(address)}`, "Mail") },
  {
    kind: "mailto on the name, markup inside",
    write: ({ address, name }) => link(`mailto:${address}`, `<strong><span>${name}</span></strong>`),
    isOnName: true,
  },
  {
    kind: "mailto with a title",
    write: ({ address, name }) => link(`mailto:${address}`, ENVELOPE, `title="E-Mail: ${name}" `),
  },
  {
    kind: "mailto, new lines",
    write: ({ address }) => `<a\n   class="mail"\n   href="mailto:${address}"\n>\n      ${address}\n   </a>`,
  },
  { kind: "mailto, single quotes", write: ({ address }) => `<a href='mailto:${address}'>${address}</a>` },
  { kind: "mailto, no quotes", write: ({ address }) => `<A HREF=mailto:${address}>${address}</A>` },
  { kind: "mailto, empty query", write: ({ address }) => link(`mailto:${address}?`, address) },
  {
    kind: "area",
    write: ({ address }) =>
      `<map name="m"><area shape="rect" coords="0,0,9,9" href="mailto:${address}" alt="E-Mail"></map>`,
  },
]);

const ENVELOPE = '<img src="/icons/mail@2x.png" alt="" width="16">';

export const FURTHER_SPLIT = writings("split", [
  { kind: "soft hyphen", write: ({ local, domain }) => `${local}&shy;@${domain}`, isText: true },
  { kind: "zero-width space", write: ({ local, domain }) => `${local}@&#8203;${domain}`, isText: true },
  {
    kind: "every part in a span",
    write: ({ local, domain }) =>
      [local, "@", ...domain.split(/(\.)/)].map((part) => `<span>${part}</span>`).join(""),
  },
  { kind: "fullwidth @", write: ({ local, domain }) => `${local}＠${domain}`, isText: true },
  { kind: "blanks around @", write: ({ local, domain }) => `${local} @ ${domain}`, isText: true },
  {
    kind: "font around the domain",
    write: ({ local, domain }) => `<font color="#333">${local}@</font><font color="#666">${domain}</font>`,
  },
  {
    kind: "hidden element in the domain",
    write: ({ local, domain }) => `${local}@<b style="DISPLAY : none !important">x.</b>${domain}`,
  },
  {
    kind: "hidden element before the address",
    write: ({ address }) => `<span style="display:none">spam.</span>${address}`,
  },
  {
    kind: "whole address in an attribute",
    write: ({ address, random }) =>
      `<button type="button" data-${random.pick(["clipboard-text", "mailto", "copy", "contact"])}="${address}">E-Mail</button>`,
  },
  {
    kind: "comments in the domain",
    write: ({ local, domain }) => `${local}@${domain.replaceAll(".", "<!-- > -->.<!-- -->")}`,
  },
]);
