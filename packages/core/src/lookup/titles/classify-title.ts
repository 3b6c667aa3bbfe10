import type { Department, Seniority } from "../../contracts/contact-source.ts";
import { toAscii } from "../names/transliterate.ts";
import { DEPARTMENT_RULES } from "./department-rules.ts";
import { SENIORITY_RULES } from "./seniority-rules.ts";
import { wordRules } from "./word-rule.ts";

/** What a job title says; `null` where it does not. */
export interface TitleClass {
  department: Department | null;
  seniority: Seniority | null;
}

/** More of a title is not looked at. */
const MAX_TITLE_LENGTH = 200;

const departmentOf = wordRules(DEPARTMENT_RULES);
const seniorityOf = wordRules(SENIORITY_RULES);

/**
 * The department and seniority that a job title in English, German, French or Spanish tells of, by rules of words; see
 * docs/lookup-names.md. Never throws.
 */
export function classifyTitle(position: string): TitleClass {
  const text = toAscii(position.slice(0, MAX_TITLE_LENGTH))
    // `C.E.O.` is `ceo`.
    .replace(/\.(?=[a-z]\b)/g, "")
    .replace(/[^a-z]+/g, " ")
    .trim();
  return { department: departmentOf(text) ?? null, seniority: seniorityOf(text) ?? null };
}
