import { open } from "node:fs/promises";
import type { ImageEnd } from "@outrigger/core";
import type { EndList } from "@outrigger/ops";
import { z } from "zod";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { ConfigError } from "../../../config/config-error.ts";

const DAY_MS = 86_400_000;
const TIME = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const ID = z.string().regex(/^[A-Za-z0-9_-]{22}$/);
const TOKEN = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

// Lines as `outrigger images ends` writes them; a later version may add keys.
const HEAD = z.object({ ends: z.literal(1), at: TIME, tombstoneDays: z.number().nonnegative() });
const FOOT = z.object({ complete: z.literal(true) });
const TOKENS = z.object({ suppressions: z.array(TOKEN).max(1000) });
const END = z.object({
  id: ID,
  at: TIME,
  why: z.enum(["deleted", "expired", "withheld"]).nullable(),
  withheld: z
    .object({
      reason: z.string(),
      authority: z.string().nullable(),
      since: TIME,
      deleteAfter: TIME.nullable(),
    })
    .nullable()
    .default(null),
});
const LINE = z.union([HEAD, FOOT, TOKENS, END]);

/** The content of all files of `--ends`. */
export interface ReadEnds {
  lists: EndList[];
  /** Tokens of suppressions, one array per line. */
  suppressions: string[][];
}

/** Reads lists of ends; a file may have several in sequence. @throws ConfigError that names file and line. */
export async function readEnds(paths: readonly string[]): Promise<ReadEnds> {
  const found: ReadEnds = { lists: [], suppressions: [] };
  for (const path of paths) await readList(path, found);
  return found;
}

async function readList(path: string, { lists, suppressions }: ReadEnds): Promise<void> {
  const problem = (what: string) => new ConfigError("The command line", [`--ends: ${path}${what}`]);
  let ends: ImageEnd[] | null = null;
  let number = 0;
  for await (const text of linesOf(path, problem)) {
    number++;
    if (text === "") continue;
    const line = parse(text);
    if (line === null) throw problem(`, line ${number}: is not part of a list of outrigger images ends`);
    if ("ends" in line) {
      if (ends !== null) throw problem(`, line ${number}: the previous list is truncated`);
      ends = [];
      lists.push({ at: line.at, tombstoneMs: line.tombstoneDays * DAY_MS, ends });
    } else if (ends === null) {
      throw problem(`, line ${number}: is outside a list. A list begins with {"ends":1, …}`);
    } else if ("complete" in line) ends = null;
    else if ("suppressions" in line) suppressions.push(line.suppressions);
    else ends.push(line);
  }
  if (number === 0) throw problem(" is empty");
  if (ends !== null) throw problem(' is truncated: its last line must have "complete":true');
}

function parse(text: string): z.infer<typeof LINE> | null {
  try {
    return LINE.parse(JSON.parse(text));
  } catch {
    // The caller reports the line.
    return null;
  }
}

async function* linesOf(path: string, problem: (what: string) => ConfigError): AsyncGenerator<string> {
  const file = await open(path).catch((cause) => {
    throw problem(` cannot be read: ${fileReasonOf(cause)}`);
  });
  try {
    yield* file.readLines();
  } finally {
    await file.close();
  }
}
