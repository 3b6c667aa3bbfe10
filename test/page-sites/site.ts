import type { ExtraKinds } from "./extras.ts";
import type { Language } from "./language.ts";
import type { Layout } from "./layout.ts";
import type { NoiseKinds } from "./noise.ts";
import type { Phone } from "./people.ts";
import type { Parts } from "./themes.ts";
import type { Writing } from "./writings.ts";

/** What a site says of one address, on the page that says most. */
export interface Truth {
  page: string;
  address: string;
  firstName: string | null;
  lastName: string | null;
  position: string | null;
  /** `undefined`: a reader could not tell which number it is. */
  phone: Phone | null | undefined;
  /** How the address is written. */
  writing: string;
  layout: string;
}

export interface SitePage {
  url: string;
  html: string;
  charset: "utf-8" | "windows-1252";
  /** False with a `noindex`. */
  isIndexable: boolean;
  /** Further addresses of the site that the page shows, with no more than another page. */
  repeats: readonly string[];
}

export interface Site {
  domain: string;
  language: string;
  pages: SitePage[];
  truths: Truth[];
  /** Addresses that the site does not show as its own, and the kind of noise of each. */
  baits: Map<string, string>;
}

/** The kinds that sites are made of. */
export interface SiteKinds {
  languages: readonly Language[];
  writings: readonly Writing[];
  layouts: readonly Layout[];
  extras: ExtraKinds;
  noise: NoiseKinds;
  themes: Readonly<Record<string, (parts: Parts) => string>>;
}
