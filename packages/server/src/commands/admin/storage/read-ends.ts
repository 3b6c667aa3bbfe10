import type { ImageEnd } from "@outrigger/core";
import type { EndList } from "@outrigger/ops";
import { linesOf } from "../../../cli/lines-of.ts";
import { usageError } from "../../../config/config-error.ts";

const DAY_MS = 86_400_000;
const ID = /^[A-Za-z0-9_-]{22}$/;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const GONE = ["deleted", "expired", "withheld", null] as const;

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
  const problem = (what: string) => usageError(`--ends: ${path}${what}`);
  let ends: ImageEnd[] | null = null;
  let isEmpty = true;
  for await (const { line: text, number } of linesOf(path, "--ends")) {
    isEmpty = false;
    const line = fieldsIn(text);
    const [head, tokens, end] = [headIn(line), tokensIn(line), endIn(line)];
    const isFoot = line.complete === true;
    if (head === null && tokens === null && end === null && !isFoot) {
      throw problem(`, line ${number}: is not part of a list of outrigger images ends`);
    }
    if (head !== null) {
      if (ends !== null) throw problem(`, line ${number}: the previous list is truncated`);
      ends = [];
      lists.push({ ...head, ends });
    } else if (ends === null) {
      throw problem(`, line ${number}: is outside a list. A list begins with {"ends":1, …}`);
    } else if (isFoot) ends = null;
    else if (tokens !== null) suppressions.push(tokens);
    else if (end !== null) ends.push(end);
  }
  if (isEmpty) throw problem(" is empty");
  if (ends !== null) throw problem(' is truncated: its last line must have "complete":true');
}

/** A line as `outrigger images ends` writes it; a later version may add fields. */
type Fields = Readonly<Record<string, unknown>>;

function fieldsIn(text: string): Fields {
  try {
    return Object(JSON.parse(text)) as Fields; // Checked field by field.
  } catch {
    // The caller reports the line.
    return {};
  }
}

function headIn({ ends, at, tombstoneDays }: Fields): Omit<EndList, "ends"> | null {
  const time = timeIn(at);
  const isHead = ends === 1 && time !== null && typeof tombstoneDays === "number" && tombstoneDays >= 0;
  return isHead ? { at: time, tombstoneMs: tombstoneDays * DAY_MS } : null;
}

function tokensIn({ suppressions }: Fields): string[] | null {
  if (!Array.isArray(suppressions) || suppressions.length > 1000) return null;
  const tokens = suppressions.filter((token) => typeof token === "string" && TOKEN.test(token));
  return tokens.length === suppressions.length ? tokens : null;
}

function endIn({ id, at, why, withheld = null }: Fields): ImageEnd | null {
  const time = timeIn(at);
  const reason = GONE.find((each) => each === why);
  const held = withheld === null ? null : withholdingIn(Object(withheld));
  if (typeof id !== "string" || !ID.test(id) || time === null || reason === undefined) return null;
  return withheld !== null && held === null ? null : { id, at: time, why: reason, withheld: held };
}

function withholdingIn({ reason, authority, since, deleteAfter }: Fields): ImageEnd["withheld"] {
  const start = timeIn(since);
  const end = deleteAfter === null ? null : timeIn(deleteAfter);
  const hasAuthority = authority === null || typeof authority === "string";
  if (typeof reason !== "string" || !hasAuthority || start === null) return null;
  return deleteAfter !== null && end === null ? null : { reason, authority, since: start, deleteAfter: end };
}

function timeIn(value: unknown): number | null {
  const time = typeof value === "string" && TIME.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}
