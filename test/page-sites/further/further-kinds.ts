import { LANGUAGES } from "../languages.ts";
import type { SiteKinds } from "../site.ts";
import { FURTHER_CARDS, FURTHER_TEXTS } from "./cards.ts";
import { FURTHER_DATA } from "./data.ts";
import { FURTHER_LANGUAGES } from "./languages.ts";
import { FURTHER_EXTRAS, FURTHER_NOISE } from "./noise.ts";
import { FURTHER_TABLES } from "./tables.ts";
import { FURTHER_THEMES } from "./themes.ts";
import { FURTHER_CLOSED, FURTHER_HIDDEN, FURTHER_READABLE, FURTHER_SPLIT } from "./writings.ts";

/** Other members of each family than the usual ones. */
export const FURTHER_KINDS: SiteKinds = {
  languages: [...FURTHER_LANGUAGES, ...LANGUAGES],
  readable: FURTHER_READABLE,
  split: FURTHER_SPLIT,
  hidden: FURTHER_HIDDEN,
  closed: FURTHER_CLOSED,
  layouts: [...FURTHER_CARDS, ...FURTHER_TEXTS, ...FURTHER_TABLES, ...FURTHER_DATA],
  extras: FURTHER_EXTRAS,
  noise: FURTHER_NOISE,
  themes: FURTHER_THEMES,
};
