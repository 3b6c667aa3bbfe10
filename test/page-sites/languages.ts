import type { Language } from "./language.ts";
import { EASTERN } from "./languages-east.ts";
import { NORTHERN } from "./languages-north.ts";
import { WESTERN } from "./languages-west.ts";

export const LANGUAGES: readonly Language[] = [...WESTERN, ...NORTHERN, ...EASTERN];
