import type { Department, Seniority } from "../../contracts/contact-source.ts";
import { memoized } from "../memoized.ts";
import { toAscii } from "../names/transliterate.ts";
import { DEPARTMENT_RULES } from "./department-rules.ts";
import { SENIORITY_RULES } from "./seniority-rules.ts";
import { wordRules } from "./word-rule.ts";

/** The class of a job title; `null` for an unknown field. */
export interface TitleClass {
  department: Department | null;
  seniority: Seniority | null;
}

/** Characters beyond this length are ignored. */
const MAX_TITLE_LENGTH = 200;

const departmentOf = wordRules(DEPARTMENT_RULES);
const seniorityOf = wordRules(SENIORITY_RULES);

/**
 * The department and seniority of a job title in English, German, French or Spanish, determined by word
 * rules; see docs/lookup.md. Never throws.
 */
export const classifyTitle = memoized((position: string): Readonly<TitleClass> => {
  const text = toAscii(position.slice(0, MAX_TITLE_LENGTH))
    // `C.E.O.` is `ceo`.
    .replace(/\.(?=[a-z]\b)/g, "")
    .replace(/[^a-z]+/g, " ")
    .trim();
  return { department: departmentOf(text) ?? null, seniority: seniorityOf(text) ?? null };
});
