import type { PageStyle } from "./layout.ts";
import type { Entry } from "./people.ts";
import { escapeHtml } from "./writings.ts";

/** Departments in a form of their own, which the writings and layouts do not cover. All are readable. */
export type ExtraKinds = Readonly<
  Record<string, (departments: readonly [Entry, Entry], style: PageStyle) => Extra>
>;

export interface Extra {
  html: string;
  /** Those that the HTML shows, with a phone only if it shows that. */
  shown: readonly Entry[];
}

const silent = (entries: readonly Entry[]) => entries.map((entry) => ({ ...entry, phone: null }));
const phoneLine = ({ phone }: Entry, style: PageStyle) =>
  phone === null ? "" : `${escapeHtml(style.words.phone)}: ${style.phone(phone)}<br>`;

export const EXTRAS: ExtraKinds = {
  "mailto with cc": ([one, other], { words }) => ({
    html: `<p><a href="mailto:${one.address}?cc=${other.address}&amp;subject=Website">${escapeHtml(words.contact)}</a></p>`,
    shown: silent([one, other]),
  }),
  "mailto with two recipients": ([one, other], { random, words }) => ({
    html: `<p><a href="mailto:${one.address}${random.pick([",", ", ", "%2C"])}${other.address}">${escapeHtml(words.email)}</a></p>`,
    shown: silent([one, other]),
  }),
  "JSON-LD ContactPoint": ([one, other], { organization }) => {
    const contactPoint = [one, other].map(({ address, phone, written }) => ({
      "@type": "ContactPoint",
      contactType: written,
      email: address,
      ...(phone === null ? {} : { telephone: phone.written }),
    }));
    const data = {
      "@context": "https://schema.org",
      "@type": ["Organization", "LocalBusiness"],
      name: organization,
      contactPoint,
    };
    return {
      html: `<script type="application/ld+json">${JSON.stringify(data)}</script>`,
      shown: [one, other],
    };
  },
  /** Names of directors, and numbers that are no phones, beside the address of a department. */
  imprint: ([one], style) => {
    const { random, words, organization } = style;
    return {
      html: `<h2>${escapeHtml(words.imprint)}</h2><p>${escapeHtml(organization)}<br>Main Street ${random.int(1, 99)}<br>${random.digits("1####")} Altenbach<br>HRB ${random.digits("4####")} · VAT DE${random.digits("2########")}<br>IBAN DE89 3704 0044 0532 0130 00</p><p>${phoneLine(one, style)}${escapeHtml(words.email)}: ${one.address}</p>`,
      shown: [one],
    };
  },
};
