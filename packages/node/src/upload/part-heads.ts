import { isUtf8 } from "node:buffer";
import { ServiceError } from "@outrigger/core";
import { decodeFormName } from "./names.ts";

/** What the head of a part of `multipart/form-data` says (RFC 7578 §4). */
export interface PartHead {
  name: string;
  /** `null`: the part has none, so it is a text field. Empty: a file input without a file. */
  fileName: string | null;
  /** Content-Type without parameters, lower case; empty without one. */
  type: string;
}

const MAX_HEAD_BYTES = 16 * 1024;
/** Blanks after a delimiter (RFC 2046 §5.1.1). */
const MAX_PADDING = 1024;
const CRLF = Buffer.from("\r\n");
const BLANK_LINE = Buffer.from("\r\n\r\n");
const NOTHING = Buffer.alloc(0);

const [TAB, LF, CR, SPACE, DASH] = [0x09, 0x0a, 0x0d, 0x20, 0x2d];

/**
 * Reads the heads of the parts of a multipart body, and writes them again in the one form that the parser understands: it
 * takes a delimiter with blanks after it for data, and drops a part whose head has an empty parameter.
 */
export class PartHeads {
  readonly #delimiter: Buffer;
  readonly #maxTextBytes: number;
  readonly #isWanted: (head: PartHead | null) => boolean;
  #state: "body" | "delimiter" | "head" | "blank line" | "end" = "body";
  /** Bytes whose meaning the next ones decide. The first delimiter may begin the body. */
  #held: Buffer = CRLF;
  /** Whether the content of the part goes to the parser. The preamble does not. */
  #isKept = false;
  /** The content of a text field, copied: a client may send it in thousands of chunks. */
  #text: Buffer | null = null;
  #textBytes = 0;

  /**
   * @param maxTextBytes The parser rejects a longer text field.
   * @param isWanted Called for each part; `null` for one that is not form data. Otherwise the part is dropped.
   */
  constructor(boundary: string, maxTextBytes: number, isWanted: (head: PartHead | null) => boolean) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
    this.#maxTextBytes = maxTextBytes;
    this.#isWanted = isWanted;
  }

  /** The bytes for the parser. Throws `bad_request` for a malformed head and for text that is not UTF-8. */
  push(chunk: Buffer): Buffer[] {
    const pieces: Buffer[] = [];
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = NOTHING;
    while (rest.length > 0 && this.#state !== "end") {
      const next = this.#step(rest, pieces);
      if (next === null) {
        this.#held = rest;
        break;
      }
      rest = next;
    }
    return pieces;
  }

  /** Takes what it understands from the start of `rest`. @returns the bytes behind; `null` if more must arrive. */
  #step(rest: Buffer, pieces: Buffer[]): Buffer | null {
    switch (this.#state) {
      case "body":
        return this.#takeBody(rest, pieces);
      case "delimiter":
        return this.#takeDelimiter(rest, pieces);
      case "head":
        return this.#takeHead(rest, pieces);
      case "blank line":
        // A part without content may share the line end with the next delimiter.
        if (rest.length < this.#delimiter.length && startsWith(this.#delimiter, rest)) return null;
        this.#state = startsWith(rest, this.#delimiter) ? "delimiter" : "body";
        return this.#state === "delimiter" ? rest : rest.subarray(CRLF.length);
      default:
        return NOTHING;
    }
  }

  #takeBody(rest: Buffer, pieces: Buffer[]): Buffer | null {
    const at = rest.indexOf(this.#delimiter);
    const end = at === -1 ? startOfMatch(rest, this.#delimiter) : at;
    if (end > 0) this.#keep(rest.subarray(0, end), pieces);
    if (at !== -1) this.#state = "delimiter";
    else if (end === 0) return null;
    return rest.subarray(end);
  }

  #takeDelimiter(rest: Buffer, pieces: Buffer[]): Buffer | null {
    const { length } = this.#delimiter;
    let end = length;
    while ((rest[end] === SPACE || rest[end] === TAB) && end - length < MAX_PADDING) end++;
    if (end + 1 >= rest.length) return null;
    if (rest[end] === CR && rest[end + 1] === LF) {
      this.#endText();
      this.#state = "head";
      return rest.subarray(end + CRLF.length);
    }
    if (rest[length] === DASH && rest[length + 1] === DASH) {
      this.#endText();
      pieces.push(this.#delimiter, Buffer.from("--\r\n"));
      this.#state = "end";
      return NOTHING;
    }
    this.#keep(this.#delimiter, pieces);
    this.#state = "body";
    return rest.subarray(length);
  }

  #takeHead(rest: Buffer, pieces: Buffer[]): Buffer | null {
    const isEmpty = startsWith(rest, CRLF);
    const end = isEmpty ? 0 : rest.indexOf(BLANK_LINE);
    if (end === -1 ? rest.length > MAX_HEAD_BYTES : end > MAX_HEAD_BYTES) {
      throw malformed(`the header of a part is over ${MAX_HEAD_BYTES} bytes`);
    }
    if (end === -1 || rest.length < CRLF.length) return null;
    const head = isEmpty ? null : readHead(rest.subarray(0, end));
    this.#isKept = this.#isWanted(head);
    if (this.#isKept && head !== null) {
      pieces.push(this.#delimiter, Buffer.from(`\r\n${writeHead(head)}\r\n\r\n`));
      if (head.fileName === null && head.charset === "") this.#text = Buffer.alloc(this.#maxTextBytes);
    }
    this.#state = "blank line";
    return rest.subarray(isEmpty ? 0 : end + CRLF.length);
  }

  #keep(content: Buffer, pieces: Buffer[]): void {
    if (!this.#isKept) return;
    pieces.push(content);
    if (this.#text === null) return;
    content.copy(this.#text, Math.min(this.#textBytes, this.#maxTextBytes));
    this.#textBytes += content.length;
  }

  #endText(): void {
    // Of a text that is too long, the last character may be missing.
    const isWhole = this.#textBytes <= this.#maxTextBytes;
    if (this.#text !== null && isWhole && !isUtf8(this.#text.subarray(0, this.#textBytes))) {
      throw notUtf8("A text field");
    }
    this.#text = null;
    this.#textBytes = 0;
  }
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.length >= start.length && bytes.compare(start, 0, start.length, 0, start.length) === 0;
}

/** Index of the last bytes that may begin `mark`; the length of `bytes` if none may. */
function startOfMatch(bytes: Buffer, mark: Buffer): number {
  let at = bytes.indexOf(CR, Math.max(0, bytes.length - mark.length + 1));
  while (at !== -1 && !startsWith(mark, bytes.subarray(at))) at = bytes.indexOf(CR, at + 1);
  return at === -1 ? bytes.length : at;
}

function malformed(detail: string): ServiceError {
  return new ServiceError("bad_request", `Malformed multipart body: ${detail}`);
}

function notUtf8(what: string): ServiceError {
  return new ServiceError("bad_request", `${what} is not valid UTF-8`);
}

interface ReadHead extends PartHead {
  /** Of a text field; empty: UTF-8. */
  charset: string;
}

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const LINE = new RegExp(`^(${TOKEN})[\\t ]*:(.*)$`, "s");
/**
 * One parameter, or none: between two semicolons may be nothing (RFC 9110 §5.6.6). Browsers escape no backslash, so one may
 * stand before the last quote. A bare value may have blanks.
 */
const PARAMETER = new RegExp(
  `;[\\t ]*(?:(${TOKEN})[\\t ]*=[\\t ]*(?:"((?:[^"\\\\]|\\\\.)*)"|"([^"]*)"|([^;"]*))(?=[\\t ]*(?:;|$)))?[\\t ]*`,
  "y",
);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they have no place in a header.
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/** @returns `null` for a part that is not form data. */
function readHead(bytes: Buffer): ReadHead | null {
  const text = bytes.toString().replace(/\r\n(?=[\t ])/g, "");
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const [, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined || CONTROL.test(line)) {
      throw malformed("the header of a part has a line that is no header");
    }
    if (!headers.has(name.toLowerCase())) headers.set(name.toLowerCase(), value.trim());
  }
  const disposition = readValue(headers.get("content-disposition") ?? "");
  if (disposition === null) throw malformed("a Content-Disposition has a malformed parameter");
  if (disposition.value !== "form-data") return null;
  const { parameters } = disposition;
  const fileName = fileNameOf(parameters);
  if (!isUtf8(bytes)) {
    throw notUtf8(fileName === null ? "The name of a text field" : "The file name");
  }
  const name = parameters.get("name") ?? "";
  if (name === "") throw malformed("a part has no name");
  const contentType = headers.get("content-type") ?? "";
  const type = (/^[^;]*/.exec(contentType)?.[0] ?? "").trim().toLowerCase();
  const charset = readValue(contentType)?.parameters.get("charset") ?? "";
  return {
    name,
    fileName,
    type,
    charset: /^utf-?8$/i.test(charset) ? "" : charset,
  };
}

/** A value before parameters, in lower case. `null` if a parameter is malformed. */
function readValue(header: string): { value: string; parameters: ReadonlyMap<string, string> } | null {
  const value = /^[^;]*/.exec(header)?.[0] ?? "";
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = value.length;
  while (PARAMETER.lastIndex < header.length) {
    const match = PARAMETER.exec(header);
    if (match === null) return null;
    const [, name = "", quoted, literal, bare = ""] = match;
    // A backslash before another character is one of a path.
    const given = quoted?.replace(/\\(["\\])/g, "$1") ?? literal ?? bare.trim();
    if (name !== "" && !parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), given);
  }
  return { value: value.trim().toLowerCase(), parameters };
}

/** The file name without its path; `null` without one. */
function fileNameOf(parameters: ReadonlyMap<string, string>): string | null {
  const plain = parameters.get("filename");
  const extended = parameters.get("filename*");
  if (plain === undefined && extended === undefined) return null;
  const whole = decodeExtended(extended) ?? decodeFormName(plain ?? extended ?? "");
  return whole.split(/[/\\]/).findLast((segment) => segment !== "") ?? whole;
}

/** Decodes `UTF-8''caf%C3%A9.png` (RFC 8187 §3.2). `null` for none, and for a value of another form. */
function decodeExtended(value: string | undefined): string | null {
  const [, charset = "", encoded = ""] = /^([\w-]+)'[^']*'(.*)$/s.exec(value ?? "") ?? [];
  if (/^iso-8859-1$/i.test(charset)) {
    return encoded.replace(/%([\da-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  try {
    return /^utf-8$/i.test(charset) ? decodeURIComponent(encoded) : null;
  } catch {
    throw notUtf8("The file name");
  }
}

/** A head as the parser wants it. The name of the file part is always `file`, and that of the file has no meaning. */
function writeHead({ name, fileName, charset }: ReadHead): string {
  if (fileName !== null) return 'Content-Disposition: form-data; name="file"; filename="file"';
  const type = charset === "" ? "" : `\r\nContent-Type: text/plain; charset=${JSON.stringify(charset)}`;
  return `Content-Disposition: form-data; name="${name.replace(/["\\]/g, "\\$&")}"${type}`;
}
