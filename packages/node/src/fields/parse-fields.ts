import { TextDecoder } from "node:util";
import { ServiceError } from "@outrigger/core";

export type BodyFormat = "json" | "form";
type Fields = Readonly<Record<string, unknown>>;

/** Parses a body's bytes. Throws `bad_request` if they are malformed, not an object or not UTF-8. */
export function parseFields(format: BodyFormat, bytes: Uint8Array): Fields {
  const text = decode(bytes);
  return format === "json" ? fieldsFromParsed("json", parseJson(text)) : parseForm(text);
}

/**
 * Reads the fields of a body that the host has parsed: the object's own values. A host's form parser may build
 * lists and trees from names like `a[b]`: of a form, only strings count, and of a list its last string.
 */
export function fieldsFromParsed(format: BodyFormat, parsed: unknown): Fields {
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new ServiceError("bad_request", "The body must be an object");
  }
  // Without a prototype, a field named __proto__ is an ordinary field.
  const fields: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(parsed)) {
    if (format === "json") {
      fields[name] = value;
      continue;
    }
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    if (typeof last === "string") fields[name] = last;
  }
  return fields;
}

/**
 * Throws `bad_request` for bytes that are not UTF-8.
 * @param decoder Decodes a text in pieces; `bytes` is absent at its end.
 */
export function decode(bytes: Uint8Array | undefined, decoder?: TextDecoder): string {
  try {
    if (decoder !== undefined) return decoder.decode(bytes, { stream: bytes !== undefined });
    return createDecoder().decode(bytes);
  } catch (cause) {
    throw new ServiceError("bad_request", "The body is not valid UTF-8", { cause });
  }
}

export function createDecoder(): TextDecoder {
  return new TextDecoder("utf-8", { fatal: true });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceError("bad_request", "The body is not valid JSON", { cause });
  }
}

function parseForm(text: string): Fields {
  const fields: Record<string, string> = Object.create(null);
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = equals === -1 ? pair : pair.slice(0, equals);
    const value = equals === -1 ? "" : pair.slice(equals + 1);
    fields[decodeComponent(name)] = decodeComponent(value);
  }
  return fields;
}

function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch (cause) {
    throw new ServiceError("bad_request", "The form has a malformed or non-UTF-8 percent-encoding", {
      cause,
    });
  }
}
