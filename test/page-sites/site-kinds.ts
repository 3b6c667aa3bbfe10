import { EXTRAS } from "./extras.ts";
import { FURTHER_CARDS, FURTHER_TEXTS } from "./further/cards.ts";
import { FURTHER_DATA } from "./further/data.ts";
import { FURTHER_LANGUAGES } from "./further/languages.ts";
import { FURTHER_EXTRAS, FURTHER_NOISE } from "./further/noise.ts";
import { FURTHER_TABLES } from "./further/tables.ts";
import { FURTHER_READABLE, FURTHER_SPLIT } from "./further/writings.ts";
import { LANGUAGES } from "./languages.ts";
import { CARDS } from "./layouts-cards.ts";
import { DATA } from "./layouts-data.ts";
import { LISTS, TABLES } from "./layouts-tables.ts";
import { TEXTS } from "./layouts-text.ts";
import { NOISE } from "./noise.ts";
import type { SiteKinds } from "./site.ts";
import { THEMES } from "./themes.ts";
import { HIDDEN, READABLE, SPLIT } from "./writings.ts";

export const SITE_KINDS: SiteKinds = {
  languages: [...LANGUAGES, ...FURTHER_LANGUAGES],
  readable: [...READABLE, ...FURTHER_READABLE],
  split: [...SPLIT, ...FURTHER_SPLIT],
  hidden: HIDDEN,
  layouts: [
    ...[...CARDS, ...TABLES, ...LISTS, ...TEXTS, ...DATA],
    ...[...FURTHER_CARDS, ...FURTHER_TABLES, ...FURTHER_TEXTS, ...FURTHER_DATA],
  ],
  extras: { ...EXTRAS, ...FURTHER_EXTRAS },
  noise: { ...NOISE, ...FURTHER_NOISE },
  themes: THEMES,
};
