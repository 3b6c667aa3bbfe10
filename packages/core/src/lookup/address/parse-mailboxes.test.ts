import { expect, test } from "vitest";
import { parseMailboxes } from "./parse-mailboxes.ts";

const [ADA, BOB] = ["ada@acme.example", "bob@acme.example"];

const read = (text: string) => parseMailboxes(text).map(({ address, name }) => [address.address, name]);

test.each([
  [ADA, null],
  [` ${ADA}\r\n`, null],
  [`mailto:${ADA}`, null],
  [`MAILTO: ${ADA}`, null],
  [`mailto:${ADA}?subject=Hello%20Ada`, null],
  ["mailto:ada%40acme.example", null],
  [`SMTP:${ADA}`, null],
  [`E-Mail: ${ADA}`, null],
  [`<${ADA}>`, null],
  [`<mailto:${ADA}>`, null],
  [`${ADA};`, null],
  [`${ADA},`, null],
  [`'${ADA}'`, null],
  [`"${ADA}"`, null],
  [`\u200B${ADA}\u00A0`, null],
  [`${ADA} <mailto:${ADA}>`, null],
  [`"${ADA}" <${ADA}>`, null],
  [`Ada <${ADA}>`, "Ada"],
  [`Ada<${ADA}>`, "Ada"],
  [`Ada Lovelace <${ADA}>`, "Ada Lovelace"],
  [`"Lovelace, Ada" <${ADA}>`, "Lovelace, Ada"],
  [`Lovelace, Ada <${ADA}>`, "Lovelace, Ada"],
  [`'Ada Lovelace' <${ADA}>;`, "Ada Lovelace"],
  [`Ada [mailto:${ADA}]`, "Ada"],
  [`Ada (${ADA})`, "Ada"],
  [`${ADA} (Ada Lovelace)`, "Ada Lovelace"],
  [`Zoë O'Neil <${ADA}> (work)`, "Zoë O'Neil"],
  ['"Ada \\"the first\\" King" <ada@acme.example>', "Ada the first King"],
])("parseMailboxes reads the address and the name of %s", (text, name) => {
  expect(read(text)).toEqual([[ADA, name]]);
});

test.each([
  `${ADA};${BOB}`,
  `${ADA}, ${BOB}`,
  `${ADA} ::: ${BOB}`,
  `${ADA}\n${BOB}`,
  `${ADA} | ${BOB}`,
  `${ADA} / ${BOB}`,
  `${ADA} ${BOB}`,
  `<${ADA}> <${BOB}>`,
  `mailto:${ADA},${BOB};${ADA}`,
])("parseMailboxes reads both addresses of %j, each once", (text) => {
  expect(read(text)).toEqual([
    [ADA, null],
    [BOB, null],
  ]);
  expect(read(`Ada <${ADA}>; Bob B. <${BOB}>`)).toEqual([
    [ADA, "Ada"],
    [BOB, "Bob B."],
  ]);
});

test.each([
  "",
  "Ada",
  "@",
  "ada@",
  "@acme.example",
  "ada@acme",
  "ada lovelace@acme.example",
  "ada,lovelace@acme.example",
  "ada:lovelace@acme.example",
  "ada@acme.example lovelace",
  "ada@acme@example.com",
  "ada@ acme.example",
  "ada @acme.example",
  '"ada lovelace"@acme.example',
  "mailto:%E0%A4%A@acme",
  "ada@[192.0.2.1]",
  "see https://ada@acme.example/x",
  `${"x".repeat(2000)} ${ADA}`,
])("parseMailboxes finds no certain address in %j", (text) => {
  expect(read(text)).toEqual([]);
});

test("parseMailboxes keeps what is before a text that is no address, and is fast for hostile texts", () => {
  expect(read(`${ADA}; none`)).toEqual([[ADA, null]]);
  expect(read("o'neil%x@acme.example")).toEqual([["o'neil%x@acme.example", null]]);
  const began = process.cpuUsage();
  for (const part of ["a@", "<", "mailto:", " ", "a@b.example ", "(a ", "'\"", ", a"])
    parseMailboxes(`@${part.repeat(2000)}`.slice(0, 2000));
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(20_000);
});
