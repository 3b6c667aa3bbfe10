import { each, type Layout, type Shown, wrap } from "./layout.ts";

const script = (data: unknown) =>
  `<script type="application/ld+json">${JSON.stringify(data).replace(/</g, "\\u003c")}</script>`;

function personData({ entry }: Shown, url: string | null): Record<string, unknown> {
  const { address, firstName, lastName, position, phone, written } = entry;
  const isPerson = firstName !== null;
  return {
    "@type": isPerson ? "Person" : "Organization",
    ...(url === null ? {} : { "@id": url }),
    name: written,
    ...(isPerson ? { givenName: firstName, familyName: lastName } : {}),
    ...(position === null ? {} : { jobTitle: position }),
    email: url === null ? address : `mailto:${address}`,
    ...(phone === null ? {} : { telephone: phone.written }),
  };
}

/** The people without their addresses, as the page shows them. */
const visible = (shown: readonly Shown[]) =>
  `<ul>${each(shown, ({ name, position }) => `<li><strong>${name}</strong>${wrap(position, "p")}</li>`)}</ul>`;

export const DATA: readonly Layout[] = [
  {
    kind: "JSON-LD, array",
    render: (shown) =>
      `${script(shown.map((one) => ({ "@context": "https://schema.org", ...personData(one, null) })))}${visible(shown)}`,
    isData: true,
  },
  {
    kind: "JSON-LD, graph",
    render: (shown) => {
      const people = shown.map((one, index) => personData(one, `#person-${index}`));
      const site = { "@type": "WebSite", "@id": "#website", url: "/" };
      return `${script({ "@context": "https://schema.org", "@graph": [site, ...people] })}${visible(shown)}`;
    },
    isData: true,
  },
  {
    kind: "JSON-LD, employees",
    render: (shown, { organization }) => {
      const employee = shown.map((one) => personData(one, null));
      const data = { "@context": "http://schema.org", "@type": "Organization", name: organization, employee };
      return `${script(data)}${visible(shown)}`;
    },
    isData: true,
  },
  {
    kind: "microdata",
    render: (shown) =>
      each(
        shown,
        ({ name, position, phone, mail, entry }) =>
          `<div itemscope itemtype="https://schema.org/${entry.firstName === null ? "Organization" : "Person"}"><h3 itemprop="name">${name}</h3>${wrap(position, "p", 'itemprop="jobTitle"')}${wrap(phone, "p", 'itemprop="telephone"')}${wrap(mail, "p", 'itemprop="email"')}</div>`,
      ),
  },
  {
    kind: "microdata, inline",
    render: (shown) =>
      `<p>${each(
        shown,
        ({ name, position, phone, mail, entry }) =>
          `<span itemscope itemtype="http://schema.org/${entry.firstName === null ? "Organization" : "Person"}"><span itemprop="name">${name}</span>${wrap(position, "span", 'itemprop="jobTitle"')}${wrap(mail, "span", 'itemprop="email"')}${wrap(phone, "span", 'itemprop="telephone"')}</span>`,
      ).replaceAll("\n", "")}</p>`,
  },
  {
    kind: "h-card",
    render: (shown) =>
      each(
        shown,
        ({ name, position, phone, mail }) =>
          `<div class="h-card"><p class="p-name">${name}</p>${wrap(position, "p", 'class="p-job-title"')}<p>${wrap(mail, "span", 'class="u-email"')} ${wrap(phone, "span", 'class="p-tel"')}</p></div>`,
      ),
  },
  {
    kind: "hCard",
    render: (shown) =>
      each(
        shown,
        ({ name, position, phone, mail }) =>
          `<div class="vcard"><span class="fn">${name}</span> ${wrap(position, "span", 'class="title"')} ${wrap(phone, "span", 'class="tel"')} ${wrap(mail, "span", 'class="email"')}</div>`,
      ),
  },
];
