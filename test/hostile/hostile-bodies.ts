import { deflateRawSync } from "node:zlib";
import {
  BAD,
  cases,
  DRAWING,
  EITHER,
  END,
  field,
  type HostileUpload,
  imagePart,
  UNTAKEN,
  VALID,
} from "./hostile-upload.ts";

/** Content-Types that contradict their body, or are unusual. */
export const CONTENT_TYPES: readonly HostileUpload[] = [
  ...cases(UNTAKEN, [
    { title: "no Content-Type", body: VALID, contentType: null },
    { title: "text/plain", body: VALID, contentType: "text/plain" },
    { title: "multipart/mixed", body: VALID, contentType: "multipart/mixed; boundary=X" },
    {
      title: "a urlencoded type with a multipart body",
      body: VALID,
      contentType: "application/x-www-form-urlencoded",
    },
    { title: "a malformed Content-Type", body: VALID, contentType: "////" },
    {
      title: "multipart/form-data as a prefix only",
      body: VALID,
      contentType: "multipart/form-datax; boundary=X",
    },
  ]),
  ...cases(BAD, [
    { title: "no boundary", body: VALID, contentType: "multipart/form-data" },
    { title: "an empty boundary", body: VALID, contentType: "multipart/form-data; boundary=" },
    { title: "an empty quoted boundary", body: VALID, contentType: 'multipart/form-data; boundary=""' },
    {
      title: "an unterminated quoted boundary",
      body: VALID,
      contentType: 'multipart/form-data; boundary="X',
    },
    { title: "nothing but semicolons", body: VALID, contentType: "multipart/form-data;;;;" },
    {
      title: "a boundary of 71 characters",
      body: VALID.replaceAll("--X", `--${"b".repeat(71)}`),
      contentType: `multipart/form-data; boundary=${"b".repeat(71)}`,
    },
    {
      title: "a boundary of 10,000 characters",
      body: VALID.replaceAll("--X", `--${"b".repeat(10_000)}`),
      contentType: `multipart/form-data; boundary=${"b".repeat(10_000)}`,
    },
    {
      title: "a boundary other than the body's",
      body: VALID,
      contentType: "multipart/form-data; boundary=Y",
    },
    {
      title: "a boundary that already includes the dashes",
      body: VALID,
      contentType: "multipart/form-data; boundary=--X",
    },
  ]),
  ...cases(
    [201],
    [
      { title: "upper-case type and parameter", body: VALID, contentType: "MULTIPART/FORM-DATA; BOUNDARY=X" },
      { title: "a quoted boundary", body: VALID, contentType: 'multipart/form-data; boundary="X"' },
      { title: "an unknown parameter", body: VALID, contentType: "multipart/form-data; x=y; boundary=X" },
    ],
  ),
  ...cases(EITHER, [
    { title: "two boundaries", body: VALID, contentType: "multipart/form-data; boundary=X; boundary=Y" },
    {
      title: "a boundary that is a regular expression",
      body: VALID.replaceAll("--X", "--(.*)+$"),
      contentType: 'multipart/form-data; boundary="(.*)+$"',
    },
    {
      title: "a boundary of dashes",
      body: VALID.replaceAll("--X", "------"),
      contentType: "multipart/form-data; boundary=----",
    },
    {
      title: "a boundary with blanks in it",
      body: VALID.replaceAll("--X", "--a b"),
      contentType: 'multipart/form-data; boundary="a b"',
    },
  ]),
];

/** Bodies with wrong boundaries. */
export const BODIES: readonly HostileUpload[] = [
  ...cases(BAD, [
    { title: "an empty body", body: "" },
    { title: "no body and no length", body: "", length: null },
    { title: "an empty chunked body", body: "0\r\n\r\n", length: "Transfer-Encoding: chunked" },
    { title: "nothing but line ends", body: "\r\n".repeat(1000) },
    { title: "nothing but a preamble", body: "This is a message with multiple parts in MIME format." },
    { title: "nothing but the final boundary", body: END },
    { title: "nothing but the first boundary", body: "--X\r\n" },
    { title: "no first boundary", body: VALID.slice(5) },
    { title: "no final boundary", body: imagePart() },
    { title: "a final boundary without its dashes", body: `${imagePart()}--X\r\n` },
    { title: "a final boundary with one dash", body: `${imagePart()}--X-` },
    { title: "an end in the middle of a boundary", body: `${imagePart()}-` },
    { title: "an end in the middle of a part's headers", body: VALID.slice(0, 40) },
    { title: "an end in the middle of the file", body: VALID.slice(0, VALID.indexOf("<path")) },
    { title: "bare line feeds", body: VALID.replaceAll("\r\n", "\n") },
    { title: "bare carriage returns", body: VALID.replaceAll("\r\n", "\r") },
    { title: "no empty line after a part's headers", body: VALID.replace("\r\n\r\n", "\r\n") },
    { title: "a part without headers", body: `--X\r\n\r\n${DRAWING}\r\n${END}` },
    { title: "100,000 boundaries in a row", body: "--X\r\n".repeat(100_000) },
    { title: "a megabyte of dashes", body: "-".repeat(1_000_000) },
    { title: "a megabyte of half boundaries", body: "\r\n--".repeat(250_000) },
    { title: "a megabyte of carriage returns", body: "\r".repeat(1_000_000) },
    // busboy 1.6 parses parts again after the final boundary, and then waits for ever for the end of a file.
    {
      title: "a file after the final boundary that does not end",
      body: `${END}--X\r\n${imagePart().slice(0, -2)}`,
    },
    {
      title: "a field, the final boundary and a file that does not end",
      body: `${field("name")}${END}--X\r\n${imagePart().slice(0, -20)}`,
    },
    {
      title: "a file after the final boundary that ends in its headers",
      body: `${END}--X\r\n${VALID.slice(0, 60)}`,
    },
    { title: "random bytes", body: Buffer.from(deflateRawSync(Buffer.alloc(3_000_000, "abc"))) },
  ]),
  ...cases(
    [201],
    [
      { title: "an epilogue with another file", body: VALID + VALID },
      { title: "an epilogue of two boundaries", body: `${VALID}--X\r\n--X\r\n` },
      {
        title: "a boundary-like line in the file",
        body: imagePart(DRAWING.replace("><", ">\r\n-- X\r\n--\r\n<")) + END,
      },
    ],
  ),
  ...cases(EITHER, [
    { title: "a preamble of 20,000 bytes", body: `${"p".repeat(20_000)}\r\n${VALID}` },
    { title: "an epilogue of 20,000 bytes", body: `${VALID}${"e".repeat(20_000)}` },
    { title: "blanks after the boundaries", body: VALID.replaceAll("--X", "--X  \t") },
    { title: "a preamble glued to the first boundary", body: `junk${VALID}` },
  ]),
  ...cases(
    [201, 400, 415],
    [
      // RFC 2046 §5.1.1 forbids this to senders, and does not define its meaning.
      {
        title: "a boundary as the prefix of a longer line in the file",
        body: imagePart(DRAWING.replace("><", ">\r\n--Xy\r\n<")) + END,
      },
    ],
  ),
];
