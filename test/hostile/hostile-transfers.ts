import { gzipSync } from "node:zlib";
import { BAD, cases, type HostileUpload, UNTAKEN, VALID } from "./hostile-upload.ts";

/** Bodies whose actual length, coding or transfer contradicts the headers. */
export const TRANSFER: readonly HostileUpload[] = [
  ...cases(
    [408],
    [
      ["a Content-Length beyond the body", VALID.slice(0, -20), { length: "Content-Length: 1000" }],
      ["a Content-Length and no body", "", { length: "Content-Length: 1000" }],
      [
        "a chunked body that stops",
        `20\r\n${VALID.slice(0, 32)}\r\n`,
        { length: "Transfer-Encoding: chunked" },
      ],
      [
        "a chunked body that stops in a chunk",
        `ff\r\n${VALID.slice(0, 99)}`,
        { length: "Transfer-Encoding: chunked" },
      ],
    ],
  ),
  ...cases(BAD, [
    ["an empty User-Agent", VALID, { headers: ["User-Agent:"] }],
    ["a User-Agent of blanks", VALID, { headers: ["User-Agent:  \t "] }],
  ]),
  ...cases(
    [413],
    [
      ["a Content-Length of 100 MB", "--X\r\n", { length: "Content-Length: 100000000" }],
      ["a Content-Length beyond all integers", "--X\r\n", { length: "Content-Length: 9007199254740993" }],
    ],
  ),
  ...cases(UNTAKEN, [
    ["a gzipped body", gzipSync(VALID), { headers: ["Content-Encoding: gzip"] }],
    ["a gzip bomb", gzipSync(Buffer.alloc(50_000_000)), { headers: ["Content-Encoding: gzip"] }],
    ["a body that only claims to be gzipped", VALID, { headers: ["Content-Encoding: gzip"] }],
    ["an unknown Content-Encoding", VALID, { headers: ["Content-Encoding: constructor"] }],
  ]),
  ...cases(
    [201],
    [
      ["Content-Encoding: identity", VALID, { headers: ["Content-Encoding: identity"] }],
      ["a chunked body", VALID, { length: "chunked" }],
      ["Expect: 100-continue", VALID, { headers: ["Expect: 100-continue"] }],
    ],
  ),
  ...cases(
    [400, 413, 417, 501],
    [
      // The rest of the body must not be parsed as a second request.
      ["a Content-Length short of the body", VALID, { length: "Content-Length: 100", byNode: true }],
      ["a Content-Length of 1", VALID, { length: "Content-Length: 1", byNode: true }],
      ["a negative Content-Length", VALID, { length: "Content-Length: -1", byNode: true }],
      ["a hexadecimal Content-Length", VALID, { length: "Content-Length: 0x100", byNode: true }],
      ["a Content-Length of letters", VALID, { length: "Content-Length: many", byNode: true }],
      ["a Content-Length beyond 64 bits", "", { length: `Content-Length: ${"9".repeat(30)}`, byNode: true }],
      ["two Content-Lengths", VALID, { length: "Content-Length: 10\r\nContent-Length: 20", byNode: true }],
      [
        "Content-Length and Transfer-Encoding",
        VALID,
        { length: "Content-Length: 10\r\nTransfer-Encoding: chunked", byNode: true },
      ],
      ["malformed chunk sizes", `zz\r\n${VALID}`, { length: "Transfer-Encoding: chunked", byNode: true }],
      [
        "garbage instead of the second chunk",
        `20\r\n${VALID.slice(0, 32)}\r\nxyz`,
        { length: "Transfer-Encoding: chunked", byNode: true },
      ],
      [
        "a chunk size beyond 64 bits",
        `${"F".repeat(17)}\r\n${VALID}`,
        { length: "Transfer-Encoding: chunked", byNode: true },
      ],
      [
        "a chunk extension of 100 KB",
        `20;${"x".repeat(100_000)}\r\n${VALID.slice(0, 32)}\r\n`,
        { length: "Transfer-Encoding: chunked", byNode: true },
      ],
      ["an unknown Transfer-Encoding", VALID, { length: "Transfer-Encoding: bogus", byNode: true }],
      ["an unknown Expect", VALID, { headers: ["Expect: the-inquisition"], byNode: true }],
    ],
  ),
];
