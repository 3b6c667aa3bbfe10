import { each, type Layout, type Shown, wrap } from "../layout.ts";
import { escapeHtml } from "../writings.ts";

const script = (text: string) => `<script type="application/ld+json">${text}</script>`;
const json = (data: unknown) => JSON.stringify(data, null, 2).replace(/</g, "\\u003c");
const visible = (shown: readonly Shown[]) =>
  each(shown, ({ name, position }) => `<div><b>${name}</b>${wrap(position, "p")}</div>`);
const typeOf = ({ entry }: Shown) => (entry.firstName === null ? "Organization" : "Person");

function person({ entry }: Shown, type: unknown): Record<string, unknown> {
  const { address, position, phone, written } = entry;
  return {
    "@type": type,
    name: written,
    jobTitle: position,
    email: address,
    telephone: phone?.written ?? null,
  };
}

export const FURTHER_DATA: readonly Layout[] = [
  {
    kind: "JSON-LD, members and founders",
    render: (shown, { organization }) => {
      const [first, ...others] = shown.map((one) => person(one, typeOf(one)));
      return `${script(json({ "@context": "https://schema.org", "@type": "LegalService", name: organization, founder: first, member: others }))}${visible(shown)}`;
    },
    isData: true,
  },
  {
    kind: "JSON-LD, profile pages",
    render: (shown) =>
      `${script(json(shown.map((one) => ({ "@context": "https://schema.org", "@type": "ProfilePage", mainEntity: person(one, typeOf(one)) }))))}${visible(shown)}`,
    isData: true,
  },
  {
    kind: "JSON-LD, contact point of a person",
    render: (shown) =>
      `${script(
        json({
          "@context": "https://schema.org",
          "@graph": shown.map((one) => {
            const { email, telephone, ...others } = person(one, typeOf(one));
            return { ...others, contactPoint: { "@type": "ContactPoint", email, telephone } };
          }),
        }),
      )}${visible(shown)}`,
    isData: true,
  },
  {
    kind: "microdata in meta and link",
    render: (shown) =>
      each(
        shown,
        (one) =>
          `<div itemscope itemtype="https://schema.org/${typeOf(one)}"><h4 itemprop="name">${one.name}</h4>${wrap(one.position, "p", 'itemprop="jobTitle"')}<link itemprop="email" href="mailto:${one.entry.address}">${one.entry.phone === null ? "" : `<meta itemprop="telephone" content="${escapeHtml(one.entry.phone.written)}">`}</div>`,
      ),
    isData: true,
  },
  {
    kind: "microdata, employees",
    render: (shown, { organization }) =>
      `<div itemscope itemtype="https://schema.org/Organization"><span itemprop="name">${escapeHtml(organization)}</span><ul>${each(
        shown,
        (one) =>
          `<li itemprop="employee" itemscope itemtype="https://schema.org/${typeOf(one)}"><span itemprop="name">${one.name}</span>${wrap(one.position, "em", 'itemprop="jobTitle"')}${wrap(one.phone, "span", 'itemprop="telephone"')}${wrap(one.mail, "span", 'itemprop="email"')}</li>`,
      )}</ul></div>`,
  },
  {
    kind: "microdata, given and family name",
    render: (shown) =>
      each(
        shown,
        ({ entry, position, phone, mail }) =>
          `<div itemscope itemtype="http://schema.org/Person"><span itemprop="familyName">${escapeHtml(entry.lastName ?? "")}</span>, <span itemprop="givenName">${escapeHtml(entry.firstName ?? "")}</span>${wrap(position, "div", 'itemprop="jobTitle"')}<div>${wrap(phone, "span", 'itemprop="telephone"')} ${wrap(mail, "span", 'itemprop="email"')}</div></div>`,
      ),
    isPeopleOnly: true,
  },
  {
    kind: "hCard with parts of the name",
    render: (shown) =>
      each(
        shown,
        ({ entry, position, phone, mail }) =>
          `<div class="vcard staff"><div class="fn n"><span class="given-name">${escapeHtml(entry.firstName ?? "")}</span> <span class="family-name">${escapeHtml(entry.lastName ?? "")}</span></div>${wrap(position, "div", 'class="role"')}<div class="adr"><span class="locality">Altenbach</span></div>${wrap(phone, "div", 'class="tel"')}${wrap(mail, "div", 'class="email"')}</div>`,
      ),
    isPeopleOnly: true,
  },
];
