import { EXTRAS } from "./extras.ts";
import { LANGUAGES } from "./languages.ts";
import { CARDS } from "./layouts-cards.ts";
import { DATA } from "./layouts-data.ts";
import { LISTS, TABLES } from "./layouts-tables.ts";
import { TEXTS } from "./layouts-text.ts";
import { NOISE } from "./noise.ts";
import type { SiteKinds } from "./site.ts";
import { THEMES } from "./themes.ts";
import { CLOSED, HIDDEN, READABLE, SPLIT } from "./writings.ts";

export const USUAL_KINDS: SiteKinds = {
  languages: LANGUAGES,
  readable: READABLE,
  split: SPLIT,
  hidden: HIDDEN,
  closed: CLOSED,
  layouts: [...CARDS, ...TABLES, ...LISTS, ...TEXTS, ...DATA],
  extras: EXTRAS,
  noise: NOISE,
  themes: THEMES,
};
