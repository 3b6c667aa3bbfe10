import { printable } from "../../../cli/print.ts";
import { usageError } from "../../../config/config-error.ts";

const HYPHEN_ID = /^-[A-Za-z0-9_-]{21}$/;
const AT_THE_END = /(?:^|\/)([A-Za-z0-9_-]{22})(?:\.\w+|\/view|\/edit)?\/?$/;

const COMMANDS_WITH_IDS: ReadonlySet<string> = new Set(["images", "get", "edit", "rm"]);

/** The ID in `text`, which may be an ID or any address of an image; `null` for any other text. */
export function imageIdOf(text: string): string | null {
  const path = URL.canParse(text) ? new URL(text).pathname : text.replace(/[?#].*$/s, "");
  return AT_THE_END.exec(path)?.[1] ?? null;
}

/** The IDs in the arguments, each once. @throws ConfigError that names all invalid arguments. */
export function imageIdsOf(texts: readonly string[]): string[] {
  const ids = texts.map(imageIdOf).filter((id) => id !== null);
  if (ids.length === texts.length) return [...new Set(ids)];
  const wrong = texts.filter((text) => imageIdOf(text) === null);
  throw usageError(
    ...wrong.map((text) => `${printable(text)}: must be an image's ID or one of its addresses`),
  );
}

/**
 * The command line with every ID that begins with a hyphen turned into an address, since the parser would take it for an
 * option. No option is as long as an ID.
 */
export function withHyphenIds(argv: readonly string[]): string[] {
  if (!COMMANDS_WITH_IDS.has(argv[2] ?? "")) return [...argv];
  return argv.map((argument) => (HYPHEN_ID.test(argument) ? `/${argument}` : argument));
}
