import { normaliseAddress } from "@outrigger/core";
import { InvalidArgumentError } from "commander";

/** An account's ID. */
export function parseAccount(text: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError("It must have 1 to 64 characters of A-Z, a-z, 0-9, _ and -.");
}

/** The address of `--email`. */
export function parseEmail(text: string): string {
  if (normaliseAddress(text) !== null) return text;
  throw new InvalidArgumentError("It must be an email address.");
}

/** The beginning of a key. */
export function parseHint(text: string): string {
  if (/^[0-9a-f]{4,40}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError("It must be the first 4 or more characters of a key.");
}
