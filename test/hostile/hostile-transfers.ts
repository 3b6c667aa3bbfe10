import { gzipSync } from "node:zlib";
import { BAD, cases, type HostileUpload, UNTAKEN, VALID } from "./hostile-upload.ts";

/** Bodies whose actual length, coding or transfer contradicts the headers. */
export const TRANSFER: readonly HostileUpload[] = [
  ...cases(
    [408],
    [
      {
        title: "a Content-Length beyond the body",
        body: VALID.slice(0, -20),
        length: "Content-Length: 1000",
      },
      { title: "a Content-Length and no body", body: "", length: "Content-Length: 1000" },
      {
        title: "a chunked body that stops",
        body: `20\r\n${VALID.slice(0, 32)}\r\n`,
        length: "Transfer-Encoding: chunked",
      },
      {
        title: "a chunked body that stops in a chunk",
        body: `ff\r\n${VALID.slice(0, 99)}`,
        length: "Transfer-Encoding: chunked",
      },
    ],
  ),
  ...cases(BAD, [
    { title: "an empty User-Agent", body: VALID, headers: ["User-Agent:"] },
    { title: "a User-Agent of blanks", body: VALID, headers: ["User-Agent:  \t "] },
  ]),
  ...cases(
    [413],
    [
      { title: "a Content-Length of 100 MB", body: "--X\r\n", length: "Content-Length: 100000000" },
      {
        title: "a Content-Length beyond all integers",
        body: "--X\r\n",
        length: "Content-Length: 9007199254740993",
      },
    ],
  ),
  ...cases(UNTAKEN, [
    { title: "a gzipped body", body: gzipSync(VALID), headers: ["Content-Encoding: gzip"] },
    { title: "a gzip bomb", body: gzipSync(Buffer.alloc(50_000_000)), headers: ["Content-Encoding: gzip"] },
    { title: "a body that only claims to be gzipped", body: VALID, headers: ["Content-Encoding: gzip"] },
    { title: "an unknown Content-Encoding", body: VALID, headers: ["Content-Encoding: constructor"] },
  ]),
  ...cases(
    [201],
    [
      { title: "Content-Encoding: identity", body: VALID, headers: ["Content-Encoding: identity"] },
      { title: "a chunked body", body: VALID, length: "chunked" },
      { title: "Expect: 100-continue", body: VALID, headers: ["Expect: 100-continue"] },
    ],
  ),
  ...cases(
    [400, 413, 417, 501],
    [
      // The rest of the body must not be parsed as a second request.
      {
        title: "a Content-Length short of the body",
        body: VALID,
        length: "Content-Length: 100",
        byNode: true,
      },
      { title: "a Content-Length of 1", body: VALID, length: "Content-Length: 1", byNode: true },
      { title: "a negative Content-Length", body: VALID, length: "Content-Length: -1", byNode: true },
      { title: "a hexadecimal Content-Length", body: VALID, length: "Content-Length: 0x100", byNode: true },
      { title: "a Content-Length of letters", body: VALID, length: "Content-Length: many", byNode: true },
      {
        title: "a Content-Length beyond 64 bits",
        body: "",
        length: `Content-Length: ${"9".repeat(30)}`,
        byNode: true,
      },
      {
        title: "two Content-Lengths",
        body: VALID,
        length: "Content-Length: 10\r\nContent-Length: 20",
        byNode: true,
      },
      {
        title: "Content-Length and Transfer-Encoding",
        body: VALID,
        length: "Content-Length: 10\r\nTransfer-Encoding: chunked",
        byNode: true,
      },
      {
        title: "malformed chunk sizes",
        body: `zz\r\n${VALID}`,
        length: "Transfer-Encoding: chunked",
        byNode: true,
      },
      {
        title: "garbage instead of the second chunk",
        body: `20\r\n${VALID.slice(0, 32)}\r\nxyz`,
        length: "Transfer-Encoding: chunked",
        byNode: true,
      },
      {
        title: "a chunk size beyond 64 bits",
        body: `${"F".repeat(17)}\r\n${VALID}`,
        length: "Transfer-Encoding: chunked",
        byNode: true,
      },
      {
        title: "a chunk extension of 100 KB",
        body: `20;${"x".repeat(100_000)}\r\n${VALID.slice(0, 32)}\r\n`,
        length: "Transfer-Encoding: chunked",
        byNode: true,
      },
      {
        title: "an unknown Transfer-Encoding",
        body: VALID,
        length: "Transfer-Encoding: bogus",
        byNode: true,
      },
      { title: "an unknown Expect", body: VALID, headers: ["Expect: the-inquisition"], byNode: true },
    ],
  ),
];
