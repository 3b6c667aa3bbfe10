import {
  BAD,
  cases,
  DRAWING,
  EITHER,
  END,
  field,
  type HostileUpload,
  imagePart,
  part,
  VALID,
} from "./hostile-upload.ts";

/** Bodies with parts other than one file and a few short texts. */
export const FIELDS: readonly HostileUpload[] = [
  ...cases(BAD, [
    { title: "no file at all", body: field("name") + field("expiresAt", "2030-01-01T00:00:00Z") + END },
    { title: "two files", body: imagePart() + VALID },
    {
      title: "a second file in another field",
      body: `${part("other", DRAWING, { fileName: "b.svg" })}${VALID}`,
    },
    { title: "the file in another field", body: VALID.replace("imagedata", "file") },
    { title: "the file as imagedata[]", body: VALID.replace("imagedata", "imagedata[]") },
    { title: "the file as ImageData", body: VALID.replace("imagedata", "ImageData") },
    { title: "the file in a field whose name ends in NUL", body: VALID.replace("imagedata", "imagedata\0") },
    { title: "the file as a text field", body: field("imagedata", DRAWING) + END },
    { title: "the file, and a text field of the same name", body: field("imagedata", DRAWING) + VALID },
    {
      title: "an empty file input, as a browser sends it",
      body: imagePart("", "", "application/octet-stream") + END,
    },
    { title: "17 fields", body: Array.from({ length: 17 }, (_, n) => field(`f${n}`)).join("") + VALID },
    {
      title: "10,000 fields",
      body: Array.from({ length: 10_000 }, (_, n) => field(`f${n}`)).join("") + VALID,
    },
    { title: "10,000 fields of one name", body: field("name").repeat(10_000) + VALID },
    { title: "10,000 fields after the file", body: imagePart() + field("name").repeat(10_000) + END },
    { title: "10,000 empty parts", body: "--X\r\n\r\n\r\n".repeat(10_000) + VALID },
    { title: "a field of 8 KiB and a byte", body: field("name", "n".repeat(8 * 1024 + 1)) + VALID },
    { title: "a field of a megabyte", body: field("name", "n".repeat(1_000_000)) + VALID },
    { title: "a field name of 1,000 characters", body: field("n".repeat(1000)) + VALID },
    { title: "a field name of 10,000 opening brackets", body: field(`a${"[".repeat(10_000)}`) + VALID },
    { title: "a field name of 10,000 bracket pairs", body: field(`a${"[b]".repeat(10_000)}`) + VALID },
    { title: "a name of 256 characters", body: field("name", "n".repeat(256)) + VALID },
    { title: "an expiresAt that is not a date", body: field("expiresAt", "tomorrow") + VALID },
    { title: "an expiresAt in the past", body: field("expiresAt", "2001-01-01T00:00:00Z") + VALID },
    { title: "invalid UTF-8 in a field", body: field("name", "a\xffb") + VALID },
    { title: "an overlong encoding in a field", body: field("name", "\xc0\xaf") + VALID },
    { title: "a surrogate in a field", body: field("name", "\xed\xa0\x80") + VALID },
    { title: "invalid UTF-8 in a field's name", body: field("na\xffme") + VALID },
    { title: "half a character at the end of a field", body: field("name", "caf\xc3") + VALID },
  ]),
  ...cases(
    [201],
    [
      {
        title: "16 unknown fields",
        body: Array.from({ length: 16 }, (_, n) => field(`f${n}`)).join("") + VALID,
      },
      { title: "a field named __proto__", body: field("__proto__", "polluted") + VALID },
      { title: "a field named constructor", body: field("constructor", "polluted") + VALID },
      { title: "a field named toString", body: field("toString", "polluted") + VALID },
    ],
  ),
  ...cases(EITHER, [
    { title: "a field named __proto__[polluted]", body: field("__proto__[polluted]", "yes") + VALID },
    {
      title: "a field named constructor[prototype][polluted]",
      body: field("constructor[prototype][polluted]", "yes") + VALID,
    },
    { title: "a field named a[b]", body: field("a[b]") + VALID },
    { title: "a field name of 30 brackets", body: field(`a${"[b]".repeat(30)}`) + VALID },
    {
      title: "field names that overflow an array (GHSA-wc9g-mqfw-jrwm)",
      body: field("items[4294967294]") + field("items[]") + VALID,
    },
    {
      title: "a field that is a list and an object",
      body: field("a") + field("a[b]") + field("a[]") + VALID,
    },
    {
      title: "a field with an unknown charset",
      body: part("name", "x", { type: "text/plain; charset=bogus" }) + VALID,
    },
    {
      title: "a field in UTF-16",
      body: part("name", "\0x\0y", { type: "text/plain; charset=utf-16" }) + VALID,
    },
    { title: "a NUL in a field", body: field("name", "a\0b") + VALID },
    { title: "a field's name with a NUL", body: field("na\0me") + VALID },
  ]),
];
