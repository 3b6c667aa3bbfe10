import type { FieldMapping } from "./contact-fields.ts";
import { type FileLine, type LineReports, MAX_LINE_BYTES } from "./file-line.ts";
import { numbered, ObjectLines } from "./object-lines.ts";
import { unfoldedLines } from "./unfolded-lines.ts";

/** Attributes of the server and of groups. */
const TECHNICAL =
  /^(?:objectclass|objectguid|objectsid|userpassword|jpegphoto|thumbnailphoto|usercertificate.*)$/i;

/**
 * Reads LDIF (RFC 2849): each entry is a line whose columns are its attributes. Changes of a directory are skipped, except added
 * entries.
 *
 * @param input UTF-8.
 */
export async function* readLdif(
  input: AsyncIterable<Uint8Array>,
  mapping: FieldMapping,
  reports: LineReports,
): AsyncGenerator<FileLine[]> {
  const objects = new ObjectLines(mapping, reports);
  let values: (readonly [name: string, value: string, hasOptions: boolean])[] = [];
  let start: number | null = null;
  let isSkipped = false;
  let length = 0;

  function finish(): FileLine | null {
    const [line, isTooLong] = [isSkipped ? null : start, length > MAX_LINE_BYTES];
    // A value with an option, such as a language, comes after the plain one.
    const sorted = values.sort(([, , a], [, , b]) => Number(a) - Number(b));
    [values, start, isSkipped, length] = [[], null, false, 0];
    if (line === null) return null;
    if (!isTooLong) return objects.line(numbered(sorted), line);
    reports.onBad({ line, reason: "too_long" });
    return null;
  }

  function take(text: string, line: number): void {
    // Comments, and values in other files, which are not read.
    const [, description = "", sign, written = ""] = /^([a-z\d.;_-]+):([:<]?) *(.*)$/i.exec(text) ?? [];
    if (description === "" || sign === "<") return;
    length += text.length;
    const value = sign === ":" ? Buffer.from(written, "base64").toString("utf8") : written;
    if (/^dn$/i.test(description)) start = line;
    else if (/^changetype$/i.test(description)) isSkipped = !/^add\s*$/i.test(value);
    else if (start !== null && length <= MAX_LINE_BYTES) {
      const [name = "", ...options] = description.split(";");
      if (!TECHNICAL.test(name)) values.push([name, value.trim(), options.length > 0]);
    }
  }

  for await (const lines of unfoldedLines(input)) {
    const entries: FileLine[] = [];
    for (const { text, line } of lines) {
      // Some programs write no empty line before the next entry.
      const full = text.trim() === "" || (start !== null && /^dn:/i.test(text)) ? finish() : null;
      if (full !== null) entries.push(full);
      take(text, line);
    }
    if (entries.length > 0) yield entries;
  }
  const last = finish();
  if (last !== null) yield [last];
}
