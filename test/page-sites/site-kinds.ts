import { EXTRAS } from "./extras.ts";
import { FURTHER_CARDS, FURTHER_TEXTS } from "./further/cards.ts";
import { FURTHER_LANGUAGES } from "./further/languages.ts";
import { FURTHER_TABLES } from "./further/tables.ts";
import { LANGUAGES } from "./languages.ts";
import { CARDS } from "./layouts-cards.ts";
import { DATA } from "./layouts-data.ts";
import { LISTS, TABLES } from "./layouts-tables.ts";
import { TEXTS } from "./layouts-text.ts";
import { NOISE } from "./noise.ts";
import type { SiteKinds } from "./site.ts";
import { THEMES } from "./themes.ts";
import { WRITINGS } from "./writings.ts";

export const SITE_KINDS: SiteKinds = {
  languages: [...LANGUAGES, ...FURTHER_LANGUAGES],
  writings: WRITINGS,
  layouts: [
    ...[...CARDS, ...TABLES, ...LISTS, ...TEXTS, ...DATA],
    ...[...FURTHER_CARDS, ...FURTHER_TABLES, ...FURTHER_TEXTS],
  ],
  extras: EXTRAS,
  noise: NOISE,
  themes: THEMES,
};
