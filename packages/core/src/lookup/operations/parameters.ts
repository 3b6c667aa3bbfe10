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
import { NAME_SCHEMA } from "../names/name-fault.ts";

/** A parameter that is a whole number. */
export interface WholeSchema extends JsonSchema {
  readonly type: "integer";
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
}

/** A parameter with one word of a fixed set. */
export interface WordSchema<T extends string> extends JsonSchema {
  readonly type: "string";
  readonly enum: readonly T[];
}

/** A parameter with several words of a fixed set. */
export interface WordsSchema<T extends string> extends JsonSchema {
  readonly type: "array";
  readonly items: WordSchema<T>;
}

/** The largest accepted number. */
const LARGEST_WHOLE = 999_999_999_999_999;

/** Longest text, in code points. */
export const MAX_TEXT_LENGTH = 1000;
export const MIN_COMPANY_LENGTH = 3;
/** Each title makes a search slower. */
export const MAX_JOB_TITLES = 20;

/** The verdicts that a search can select. */
export type SearchedStatus = "valid" | "accept_all" | "unknown";

function wordsSchema<T extends string>(words: readonly T[], description: string): WordsSchema<T> {
  return { type: "array", items: { type: "string", enum: words }, description };
}

function nameSchema(description: string, example: string): JsonSchema {
  const note = "It must have letters, not only single ones, and no digits.";
  return { ...NAME_SCHEMA, description: `${description} ${note}`, examples: [example] };
}

/** The parameters of look-ups by their names in code, as they are checked and described in the OpenAPI document. */
export const LOOKUP_PARAMETERS = {
  domain: {
    type: "string",
    format: "domain",
    maxLength: MAX_TEXT_LENGTH,
    description:
      "Domain of the organisation: the part after the `@` of its addresses. Of a URL or an address, its domain; a leading `www.` is ignored. Takes precedence over `company`.",
    examples: ["example.com"],
  },
  company: {
    type: "string",
    pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
    maxLength: MAX_TEXT_LENGTH,
    description: `Name of the organisation, used if \`domain\` is absent: at least ${MIN_COMPANY_LENGTH} characters.`,
    examples: ["Example"],
  },
  type: {
    type: "string",
    enum: ["personal", "generic"],
    description: "Only addresses of people, or only role addresses.",
  } as const satisfies WordSchema<AddressType>,
  seniority: wordsSchema<Seniority>(SENIORITIES, "Only people of these seniorities."),
  department: wordsSchema<Department>(DEPARTMENTS, "Only people in these departments."),
  requiredField: wordsSchema<RequiredField>(
    REQUIRED_FIELDS,
    "Only addresses for which all of these are known.",
  ),
  verificationStatus: wordsSchema<SearchedStatus>(
    ["valid", "accept_all", "unknown"],
    "Only addresses whose latest verdict is one of these, so only verified addresses.",
  ),
  jobTitles: {
    type: "array",
    items: { type: "string", pattern: "[\\p{L}\\p{N}]" },
    maxItems: MAX_JOB_TITLES,
    description:
      "Only people whose title contains the whole words of one of these, side by side. Accents and words such as `of` are ignored.",
    examples: [["CTO", "Sales Manager"]],
  },
  limit: {
    type: "integer",
    minimum: 0,
    maximum: 100,
    default: 10,
    description:
      "Addresses per answer; 0 is the default. Each ten returned, or part of ten, cost one search.",
  },
  offset: {
    type: "integer",
    minimum: 0,
    maximum: LARGEST_WHOLE,
    default: 0,
    description: "Number of addresses to skip.",
  },
  firstName: nameSchema("First name.", "Ada"),
  lastName: nameSchema("Last name.", "Lovelace"),
  fullName: nameSchema("First and last name in one.", "First and last name together."),
  /** A text that is not an address also gets a verdict. */
  email: {
    type: "string",
    pattern: "^\\s*[^\\u0000-\\u001f\\u007f-\\u009f]*@[^\\u0000-\\u001f\\u007f-\\u009f]*\\s*$",
    maxLength: MAX_TEXT_LENGTH,
    description: "The address.",
    examples: ["ada.lovelace@example.com"],
  },
  /** In a query in seconds, and named `max_duration`. */
  maxDurationMs: {
    type: "integer",
    minimum: 3,
    maximum: 20,
    default: 10,
    description: "Maximum time to wait for mail servers, in seconds.",
  },
} satisfies Readonly<Record<string, JsonSchema>>;
