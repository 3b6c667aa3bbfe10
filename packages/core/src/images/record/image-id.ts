import { randomBytes } from "node:crypto";
import { type JsonSchema, patternOf } from "../../schema/json-schema.ts";

/** Characters of an image ID. */
export const ID_LENGTH = 22;

export const IMAGE_ID_SCHEMA = {
  type: "string",
  pattern: "^[A-Za-z0-9_-]{22}$",
  description: "ID of an image.",
  examples: ["kY3vN0cWQe2l8Zr5tXh1aA"],
} as const satisfies JsonSchema;

const IMAGE_ID = patternOf(IMAGE_ID_SCHEMA);

/** 128 random bits as 22 characters of base64url. */
export function createImageId(): string {
  return randomBytes(16).toString("base64url");
}

/** Whether `text` has the form of an image ID. No other text ever reaches a store as an ID. */
export function isImageId(text: string): boolean {
  return IMAGE_ID.test(text);
}
