import { setImmediate as breathe } from "node:timers/promises";
import type { LookupProblem } from "../lookup-problem.ts";
import {
  type ListParser,
  ListRows,
  MAX_ROW_BYTES,
  type ReadList,
  storable,
  type TextInput,
  wrong,
} from "./list-rows.ts";

const MAX_DEPTH = 3;
const BLANK = /[ \t\r\n]*/y;
const TOKEN =
  /[{}[\],:]|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=[\s,\]}])/y;
const NO_ARRAY = "emails must be an array of addresses";
/** Rows that are read from an array without a pause. */
const SLICE_ROWS = 500;

/** Reads `{"emails": ["…"]}` (RFC 8259). Other members are skipped, at most 4 KiB of them. */
export function* parseAddresses(input: TextInput, list: ListRows): ListParser {
  // All but the addresses: their syntax is checked at the end.
  const others: string[] = [];
  let length = 0;
  let depth = 0;
  let arrays = 0;
  for (let token = yield* nextToken(input); token !== ""; token = yield* nextToken(input)) {
    others.push(token);
    length += token.length;
    if (others[0] !== "{") throw wrong("The body must be an object");
    if (token === "{" || token === "[") depth++;
    if (token === "}" || token === "]") depth--;
    if (depth > MAX_DEPTH) throw wrong(`The body is nested more than ${MAX_DEPTH} levels deep`);
    if (length > MAX_ROW_BYTES) throw wrong(`The body has more than ${MAX_ROW_BYTES} bytes beside emails`);
    const [name = "", colon] = others.slice(-3);
    if (token !== "[" || depth !== 2 || colon !== ":" || textOf(name) !== "emails") continue;
    if (++arrays > 1) throw wrong("emails must be given once");
    yield* readEmails(input, list);
    others.push("]");
    depth--;
  }
  parsed(others.join(" "));
  if (arrays === 0) throw wrong(NO_ARRAY);
}

/** Reads the rest of an array. */
function* readEmails(input: TextInput, list: ListRows): ListParser {
  for (let index = 0, token = yield* nextToken(input); token !== "]" || index > 0; index++) {
    const place = `emails[${index}]`;
    const email = textOf(token);
    if (email === null) throw token === "" ? malformed() : wrong(`${place} must be a string`);
    list.add(storable(email).trim(), null, place);
    yield true;
    const next = yield* nextToken(input);
    if (next === "]") return;
    if (next !== ",") throw malformed();
    token = yield* nextToken(input, `emails[${index + 1}]`);
  }
}

/** @param place Names the token in errors. @returns An empty text at the end. */
function* nextToken(input: TextInput, place = "A value"): Generator<boolean, string> {
  for (;;) {
    BLANK.lastIndex = input.at;
    BLANK.exec(input.text);
    input.at = BLANK.lastIndex;
    if (input.left === 0 && input.isComplete) return "";
    const start = input.text[input.at] ?? "";
    const [token] = input.match(TOKEN) ?? [];
    if ((token?.length ?? input.left) > MAX_ROW_BYTES && start === '"') {
      throw wrong(`${place} is longer than ${MAX_ROW_BYTES} bytes`);
    }
    if (token !== undefined) return token;
    // A part of a token may still arrive.
    const mayFollow = !input.isComplete && input.left <= MAX_ROW_BYTES && /^[{}[\],:"tfn\d-]?$/.test(start);
    if (!mayFollow) throw malformed();
    yield false;
  }
}

/** The text of a string; `null` for another token. */
function textOf(token: string): string | null {
  return token.startsWith('"') ? String(parsed(token)) : null;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw malformed();
  }
}

function malformed(): LookupProblem {
  return wrong("The body is not valid JSON");
}

/** The rows of an array that the host's code gives. Rejects with `wrong_params` for any other value. */
export async function readAddresses(emails: unknown): Promise<ReadList> {
  if (!Array.isArray(emails)) throw wrong(NO_ARRAY);
  const list = new ListRows();
  for (const [index, email] of emails.entries()) {
    if (typeof email !== "string") throw wrong(`emails[${index}] must be a string`);
    list.add(storable(email).trim(), null, `emails[${index}]`);
    if (index % SLICE_ROWS === SLICE_ROWS - 1) await breathe();
  }
  return list.requireRows();
}
