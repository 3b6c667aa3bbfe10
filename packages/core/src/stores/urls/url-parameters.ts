import { wholeIn } from "../../check-options.ts";
import type { OptionRule } from "../../option-rules.ts";

/** The query parameters of a storage URL, as text. */
export type UrlParameters<Name extends string> = { [name in Name]?: string | undefined };

/**
 * Reads the parameters of a storage URL.
 * @throws TypeError for a parameter that is not in `names` or occurs twice. The message does not quote it: after an
 * unencoded question mark it may be the rest of a password.
 */
export function readParameters<const Name extends string>(
  url: URL,
  names: readonly Name[],
): UrlParameters<Name> {
  const values: UrlParameters<Name> = {};
  for (const [given, value] of url.searchParams) {
    const name = names.find((each) => each === given);
    if (name === undefined || values[name] !== undefined) {
      throw new TypeError(`must have no parameters except ${names.join(", ")}, each at most once`);
    }
    values[name] = value;
  }
  return values;
}

/** Reads a number as options take it. @throws TypeError if `text` is present and does not fit the rule. */
export function readWhole(name: string, text: string | undefined, rule: OptionRule) {
  return text === undefined ? undefined : wholeIn(name, text, rule);
}

/** @throws TypeError if `text` is present and neither `true` nor `false`. */
export function readFlag(name: string, text: string | undefined) {
  if (text === undefined) return undefined;
  if (text === "true" || text === "false") return text === "true";
  throw new TypeError(`must have true or false as ${name}`);
}

/** Whether each percent sign of `text` begins a percent-encoded character. */
export function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    // A percent sign that is not encoded.
    return false;
  }
}
