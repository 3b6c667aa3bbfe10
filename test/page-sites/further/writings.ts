import { cfemail, escapeHtml, writings } from "../writings.ts";

const link = (href: string, text: string, more = "") => `<a ${more}href="${href}">${text}</a>`;
const percents = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join("");
const parts = (domain: string) => {
  const cut = domain.lastIndexOf(".");
  return [domain.slice(0, cut), domain.slice(cut + 1)] as const;
};
const reversed = (text: string) => [...text].reverse().join("");

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

export const FURTHER_HIDDEN = writings("hidden", [
  {
    kind: "other signs around at",
    write: ({ local, domain, random }) =>
      `${local}${random.pick(["&lt;at&gt;", "-at-", " -at- ", "_at_", "*at*", "|at|", "((at))", "[[at]]", " /at/ ", "&lt;ät&gt;", "~at~", "#at#"])}${domain}`,
    isText: true,
  },
  {
    kind: "@ in brackets",
    write: ({ local, domain, random }) => `${local}${random.pick(["[@]", "(@)", " [@] ", "{@}"])}${domain}`,
    isText: true,
  },
  {
    kind: "blanks within brackets",
    write: ({ local, domain }) => `${local} [ at ] ${domain.replaceAll(".", " [ dot ] ")}`,
    isText: true,
  },
  { kind: "at, explained", write: ({ local, domain }) => `${local}[at]${domain} ([at] = @)`, isText: true },
  {
    kind: "dot in the local part",
    write: ({ local, domain }) =>
      `${local.replaceAll(".", " [dot] ")} [at] ${domain.replaceAll(".", " [dot] ")}`,
    isText: true,
  },
  {
    kind: "SpamSpan",
    write: ({ local, domain }) =>
      `<span class="spamspan"><span class="u">${local}</span> [at] <span class="d">${domain}</span></span>`,
  },
  {
    kind: "SpamSpan, dots",
    write: ({ local, domain }) =>
      `<span class="spamspan"><span class="u">${local}</span> [at] <span class="d">${domain.replaceAll(".", " [dot] ")}</span></span>`,
  },
  {
    kind: "three parts in attributes",
    write: ({ local, domain, random }) => {
      const [host, top] = parts(domain);
      const [a, b, c] = random.pick([
        ["part1", "part2", "part3"],
        ["mailbox", "host", "tld"],
        ["first", "second", "last"],
      ] as const);
      return `<a class="mail" data-${a}="${local}" data-${b}="${host}" data-${c}="${top}" href="#">E-Mail</a>`;
    },
  },
  {
    kind: "two parts in other attributes",
    write: ({ local, domain, random }) => {
      const [a, b] = random.pick([
        ["email-user", "email-domain"],
        ["mail-local", "mail-host"],
        ["account", "server"],
        ["before", "after"],
        ["a", "b"],
      ] as const);
      return `<span class="contact-mail" data-${a}="${local}" data-${b}="${domain}">E-Mail</span>`;
    },
  },
  {
    kind: "at and dot in mailto",
    write: ({ local, domain }) => link(`mailto:${local}(at)${domain.replaceAll(".", "(dot)")}`, "E-Mail"),
  },
  {
    kind: "cfemail, link and span",
    write: ({ address, random }) => {
      const code = cfemail(address, random.int(1, 255)).toUpperCase();
      return `<a href="/cdn-cgi/l/email-protection#${code}"><span class="__cf_email__" data-cfemail="${code}">[email&#160;protected]</span></a>`;
    },
  },
  {
    kind: "cfemail, full URL with a subject",
    write: ({ address, domain, random }) =>
      link(
        `https://www.${domain}/cdn-cgi/l/email-protection#${cfemail(`${address}?subject=Hi`, random.int(1, 255))}`,
        "E-Mail",
      ),
  },
  { kind: "reversed by bdo", write: ({ address }) => `<bdo dir="rtl">${reversed(address)}</bdo>` },
  {
    kind: "reversed, other style",
    write: ({ address }) =>
      `<span dir="rtl" style="direction: rtl;unicode-bidi:  bidi-override;">${reversed(address)}</span>`,
  },
  {
    kind: "other icons",
    write: ({ local, domain, random }) =>
      `${local}<i class="${random.pick(["bi bi-at", "fas fa-at", "icon-at", "glyphicon glyphicon-at", "fa-solid fa-at"])}" aria-hidden="true"></i>${domain}`,
  },
  {
    kind: "other pictures of @",
    write: ({ local, domain, random }) =>
      `${local}<img src="/i/${random.int(1, 9)}.gif" alt="${random.pick(["(at)", "[at]", "at", "@"])}" class="inline">${domain}`,
  },
  {
    kind: "at in an aria-label",
    write: ({ local, domain }) => `<a href="#mail" aria-label="${escapeHtml(local)} [at] ${domain}">✉</a>`,
  },
]);

export const FURTHER_CLOSED = writings("closed", [
  {
    kind: "Joomla's cloak",
    write: ({ local, domain, random }) => {
      const id = random.int(1000, 99999);
      return `<span id="cloak${id}">This email address is being protected from spambots. You need JavaScript enabled to view it.</span><script>var addy${id} = '${local}' + '&#64;'; addy${id} = addy${id} + '${domain.replace(".", "' + '&#46;' + '")}'; document.getElementById('cloak${id}').innerHTML = addy${id};</script>`;
    },
  },
  {
    kind: "onclick",
    write: ({ local, domain }) =>
      `<a href="#" onclick="location.href='mai'+'lto:${local}'+String.fromCharCode(64)+'${domain}';return false">E-Mail</a>`,
  },
  {
    kind: "script, whole address",
    write: ({ address }) => `<script>window.contactMail = "${address}";</script>`,
  },
  {
    kind: "reversed in an attribute",
    write: ({ address }) => `<span data-rev="${reversed(address)}"></span>`,
  },
  {
    kind: "hex in an attribute",
    write: ({ address }) => `<span data-hex="${Buffer.from(address).toString("hex")}"></span>`,
  },
]);
