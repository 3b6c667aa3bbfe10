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
    ["no Content-Type", VALID, { contentType: null }],
    ["text/plain", VALID, { contentType: "text/plain" }],
    ["multipart/mixed", VALID, { contentType: "multipart/mixed; boundary=X" }],
    ["a urlencoded type with a multipart body", VALID, { contentType: "application/x-www-form-urlencoded" }],
    ["a malformed Content-Type", VALID, { contentType: "////" }],
    ["multipart/form-data as a prefix only", VALID, { contentType: "multipart/form-datax; boundary=X" }],
  ]),
  ...cases(BAD, [
    ["no boundary", VALID, { contentType: "multipart/form-data" }],
    ["an empty boundary", VALID, { contentType: "multipart/form-data; boundary=" }],
    ["an empty quoted boundary", VALID, { contentType: 'multipart/form-data; boundary=""' }],
    ["an unterminated quoted boundary", VALID, { contentType: 'multipart/form-data; boundary="X' }],
    ["nothing but semicolons", VALID, { contentType: "multipart/form-data;;;;" }],
    [
      "a boundary of 71 characters",
      VALID.replaceAll("--X", `--${"b".repeat(71)}`),
      { contentType: `multipart/form-data; boundary=${"b".repeat(71)}` },
    ],
    [
      "a boundary of 10,000 characters",
      VALID.replaceAll("--X", `--${"b".repeat(10_000)}`),
      { contentType: `multipart/form-data; boundary=${"b".repeat(10_000)}` },
    ],
    ["a boundary other than the body's", VALID, { contentType: "multipart/form-data; boundary=Y" }],
    [
      "a boundary that already includes the dashes",
      VALID,
      { contentType: "multipart/form-data; boundary=--X" },
    ],
  ]),
  ...cases(
    [201],
    [
      ["upper-case type and parameter", VALID, { contentType: "MULTIPART/FORM-DATA; BOUNDARY=X" }],
      ["a quoted boundary", VALID, { contentType: 'multipart/form-data; boundary="X"' }],
      ["an unknown parameter", VALID, { contentType: "multipart/form-data; x=y; boundary=X" }],
    ],
  ),
  ...cases(EITHER, [
    ["two boundaries", VALID, { contentType: "multipart/form-data; boundary=X; boundary=Y" }],
    [
      "a boundary that is a regular expression",
      VALID.replaceAll("--X", "--(.*)+$"),
      { contentType: 'multipart/form-data; boundary="(.*)+$"' },
    ],
    [
      "a boundary of dashes",
      VALID.replaceAll("--X", "------"),
      { contentType: "multipart/form-data; boundary=----" },
    ],
    [
      "a boundary with blanks in it",
      VALID.replaceAll("--X", "--a b"),
      { contentType: 'multipart/form-data; boundary="a b"' },
    ],
  ]),
];

/** Bodies with wrong boundaries. */
export const BODIES: readonly HostileUpload[] = [
  ...cases(BAD, [
    ["an empty body", ""],
    ["no body and no length", "", { length: null }],
    ["an empty chunked body", "0\r\n\r\n", { length: "Transfer-Encoding: chunked" }],
    ["nothing but line ends", "\r\n".repeat(1000)],
    ["nothing but a preamble", "This is a message with multiple parts in MIME format."],
    ["nothing but the final boundary", END],
    ["nothing but the first boundary", "--X\r\n"],
    ["no first boundary", VALID.slice(5)],
    ["no final boundary", imagePart()],
    ["a final boundary without its dashes", `${imagePart()}--X\r\n`],
    ["a final boundary with one dash", `${imagePart()}--X-`],
    ["an end in the middle of a boundary", `${imagePart()}-`],
    ["an end in the middle of a part's headers", VALID.slice(0, 40)],
    ["an end in the middle of the file", VALID.slice(0, VALID.indexOf("<path"))],
    ["bare line feeds", VALID.replaceAll("\r\n", "\n")],
    ["bare carriage returns", VALID.replaceAll("\r\n", "\r")],
    ["no empty line after a part's headers", VALID.replace("\r\n\r\n", "\r\n")],
    ["a part without headers", `--X\r\n\r\n${DRAWING}\r\n${END}`],
    ["100,000 boundaries in a row", "--X\r\n".repeat(100_000)],
    ["a megabyte of dashes", "-".repeat(1_000_000)],
    ["a megabyte of half boundaries", "\r\n--".repeat(250_000)],
    ["a megabyte of carriage returns", "\r".repeat(1_000_000)],
    // busboy 1.6 parses parts again after the final boundary, and then waits for ever for the end of a file.
    ["a file after the final boundary that does not end", `${END}--X\r\n${imagePart().slice(0, -2)}`],
    [
      "a field, the final boundary and a file that does not end",
      `${field("name")}${END}--X\r\n${imagePart().slice(0, -20)}`,
    ],
    ["a file after the final boundary that ends in its headers", `${END}--X\r\n${VALID.slice(0, 60)}`],
    ["random bytes", Buffer.from(deflateRawSync(Buffer.alloc(3_000_000, "abc")))],
  ]),
  ...cases(
    [201],
    [
      ["an epilogue with another file", VALID + VALID],
      ["an epilogue of two boundaries", `${VALID}--X\r\n--X\r\n`],
      ["a boundary-like line in the file", imagePart(DRAWING.replace("><", ">\r\n-- X\r\n--\r\n<")) + END],
    ],
  ),
  ...cases(EITHER, [
    ["a preamble of 20,000 bytes", `${"p".repeat(20_000)}\r\n${VALID}`],
    ["an epilogue of 20,000 bytes", `${VALID}${"e".repeat(20_000)}`],
    ["blanks after the boundaries", VALID.replaceAll("--X", "--X  \t")],
    ["a preamble glued to the first boundary", `junk${VALID}`],
  ]),
  ...cases(
    [201, 400, 415],
    [
      // RFC 2046 §5.1.1 forbids this to senders, and does not define its meaning.
      [
        "a boundary as the prefix of a longer line in the file",
        imagePart(DRAWING.replace("><", ">\r\n--Xy\r\n<")) + END,
      ],
    ],
  ),
];
