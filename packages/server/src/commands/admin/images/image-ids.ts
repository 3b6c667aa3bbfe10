import { parsedUrl } from "@outrigger/core/values";
import { linesOf } from "../../../cli/lines-of.ts";
import { printable } from "../../../cli/print.ts";
import { usageError } from "../../../config/config-error.ts";

const HYPHEN_ID = /^-[A-Za-z0-9_-]{21}$/;
const AT_THE_END = /(?:^|\/)([A-Za-z0-9_-]{22})(?:\.\w+|\/view|\/edit)?\/?$/;

const MUST_BE = "must be an image's ID or one of its addresses";

/** The ID in `text`, which may be an ID or any address of an image; `null` for any other text. */
export function imageIdOf(text: string): string | null {
  const path = parsedUrl(text)?.pathname ?? text.replace(/[?#].*$/s, "");
  return AT_THE_END.exec(path)?.[1] ?? null;
}

/** The IDs in the arguments, each once. @throws ConfigError that names all invalid arguments. */
export function imageIdsOf(texts: readonly string[]): string[] {
  const ids = texts.map(imageIdOf).filter((id) => id !== null);
  if (ids.length === texts.length) return [...new Set(ids)];
  const wrong = texts.filter((text) => imageIdOf(text) === null);
  throw usageError(...wrong.map((text) => `${printable(text)}: ${MUST_BE}`));
}

/** Wrong lines that a message names. */
const MAX_NAMED = 20;

/**
 * The IDs in {@link linesOf} a file, each once: an ID or address per line. Lines that begin with `#` are skipped. @throws ConfigError that names the wrong lines.
 */
export async function imageIdsFrom(path: string): Promise<string[]> {
  const ids = new Set<string>();
  const wrong: string[] = [];
  let count = 0;
  for await (const { line, number } of linesOf(path, "--from")) {
    const text = line.trim();
    if (text.startsWith("#")) continue;
    const id = imageIdOf(text);
    if (id !== null) ids.add(id);
    else if (wrong.push(`${path}, line ${number}: ${printable(text.slice(0, 100))}: ${MUST_BE}`) > MAX_NAMED)
      count += wrong.splice(MAX_NAMED).length;
  }
  if (count > 0) wrong.push(`and ${count} more lines`);
  if (wrong.length > 0) throw usageError(...wrong);
  if (ids.size === 0) throw usageError(`--from ${printable(path)}: has no image`);
  return [...ids];
}

/**
 * The command line with every ID that begins with a hyphen turned into an address, since the parser would take it for an
 * option. No option is as long as an ID.
 */
export function withHyphenIds(argv: readonly string[]): string[] {
  if (argv[2] !== "images") return [...argv];
  return argv.map((argument) => (HYPHEN_ID.test(argument) ? `/${argument}` : argument));
}
