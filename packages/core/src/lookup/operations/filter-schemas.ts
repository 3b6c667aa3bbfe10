import {
  type AddressType,
  DEPARTMENTS,
  type Department,
  SENIORITIES,
  type Seniority,
} from "../../contracts/contact-source.ts";
import { LARGEST_WHOLE, type WholeSchema, type WordSchema, type WordsSchema } from "./given.ts";

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
