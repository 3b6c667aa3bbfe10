import {
  type AddressType,
  DEPARTMENTS,
  type Department,
  REQUIRED_FIELDS,
  type RequiredField,
  SENIORITIES,
  type Seniority,
} from "../../contracts/contact-source.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { LookupProblem } from "../lookup-problem.ts";
import { titleKey } from "../titles/title-key.ts";
import { type Given, LARGEST_WHOLE, type WholeSchema, type WordSchema, type WordsSchema } from "./given.ts";

/** The parameter `type`. */
export const TYPE_SCHEMA = {
  type: "string",
  enum: ["personal", "generic"],
  description: "Only addresses of people, or only role addresses.",
} as const satisfies WordSchema<AddressType>;

/** The parameter `seniority`. */
export const SENIORITY_SCHEMA = {
  type: "array",
  items: { type: "string", enum: SENIORITIES },
  description: "Only people of these seniorities.",
} as const satisfies WordsSchema<Seniority>;

/** The parameter `department`. */
export const DEPARTMENT_SCHEMA = {
  type: "array",
  items: { type: "string", enum: DEPARTMENTS },
  description: "Only people in these departments.",
} as const satisfies WordsSchema<Department>;

/** The parameter `required_field`. */
export const REQUIRED_FIELD_SCHEMA = {
  type: "array",
  items: { type: "string", enum: REQUIRED_FIELDS },
  description: "Only addresses for which all of these are known.",
} as const satisfies WordsSchema<RequiredField>;

/** The verdicts that a search can select. */
export type SearchedStatus = "valid" | "accept_all" | "unknown";

/** The parameter `verification_status`. */
export const VERIFICATION_STATUS_SCHEMA = {
  type: "array",
  items: { type: "string", enum: ["valid", "accept_all", "unknown"] },
  description: "Only addresses whose latest verdict is one of these, so only verified addresses.",
} as const satisfies WordsSchema<SearchedStatus>;

/** Each title makes a search slower. */
const MAX_JOB_TITLES = 20;

/** The parameter `job_titles`. */
export const JOB_TITLES_SCHEMA = {
  type: "array",
  items: { type: "string", pattern: "[\\p{L}\\p{N}]" },
  maxItems: MAX_JOB_TITLES,
  description:
    "Only people whose title contains the whole words of one of these, side by side. Accents and words such as `of` are ignored.",
  examples: [["CTO", "Sales Manager"]],
} as const satisfies JsonSchema;

/** Job titles as written, and their keys, each once and sorted, so that equal lists are equal. */
export function jobTitlesOf(given: Given): { written: string; keys: string[] } | null {
  const titles = given
    .words("jobTitles")
    ?.map((title) => title.trim())
    .filter((title) => title !== "");
  if (titles === undefined) return null;
  const keys = titles.map(titleKey);
  if (titles.length === 0 || titles.length > MAX_JOB_TITLES || keys.includes("")) {
    const name = given.nameOf("jobTitles");
    throw new LookupProblem(
      "wrong_params",
      `${name} must be 1 to ${MAX_JOB_TITLES} titles, each with at least one word`,
    );
  }
  return { written: titles.join(","), keys: [...new Set(keys)].sort() };
}

/** The parameter `limit`. */
export const LIMIT_SCHEMA = {
  type: "integer",
  minimum: 0,
  maximum: 100,
  default: 10,
  description: "Addresses per answer; 0 is the default. Each ten returned, or part of ten, cost one search.",
} as const satisfies WholeSchema;

/** The parameter `offset`. */
export const OFFSET_SCHEMA = {
  type: "integer",
  minimum: 0,
  maximum: LARGEST_WHOLE,
  default: 0,
  description: "Number of addresses to skip.",
} as const satisfies WholeSchema;
