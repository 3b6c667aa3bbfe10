import { normaliseAddress, normaliseDomain } from "@outrigger/core";
import { printable } from "../cli/printable.ts";
import { ConfigError } from "../config/config-error.ts";

/**
 * The addresses and domains that were typed, normalised, each once.
 * @throws ConfigError naming all that are neither: then nothing is done at all.
 */
export function subjectsOf(texts: readonly string[]): string[] {
  const subjects = texts.map((text) => (text.includes("@") ? normaliseAddress(text) : normaliseDomain(text)));
  const wrong = texts.filter((_, index) => subjects[index] === null);
  if (wrong.length === 0) return [...new Set(subjects.filter((subject) => subject !== null))];
  throw new ConfigError(
    "The command line",
    wrong.map((text) => `${printable(text)}: must be an email address or a domain`),
  );
}
