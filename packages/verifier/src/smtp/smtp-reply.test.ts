import { randomBytes, randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { DialogueError, ReplyParser } from "./smtp-reply.ts";

const TEXT =
  "220 mx.test ESMTP\r\n250-mx.test\r\n250-SIZE 1000\r\n250 STARTTLS\r\n550-5.1.1 No such user,\r\n550 5.1.1 sorry\r\n250\r\n";

test("the parser yields the same replies for any chunking", () => {
  const whole = new ReplyParser().push(Buffer.from(TEXT));
  expect(whole).toEqual([
    { code: 220, enhancedCode: null, lines: ["mx.test ESMTP"] },
    { code: 250, enhancedCode: null, lines: ["mx.test", "SIZE 1000", "STARTTLS"] },
    { code: 550, enhancedCode: "5.1.1", lines: ["No such user,", "sorry"] },
    { code: 250, enhancedCode: null, lines: [""] },
  ]);
  for (let size = 1; size < TEXT.length; size++) {
    const parser = new ReplyParser();
    const bytes = Buffer.from(TEXT);
    const replies = [];
    for (let from = 0; from < bytes.length; from += size)
      replies.push(...parser.push(bytes.subarray(from, from + size)));
    expect(replies, `in pieces of ${size}`).toEqual(whole);
    expect(parser.isAmid()).toBe(false);
  }
});

test("the parser throws a DialogueError for a malformed line", () => {
  const codes = ["", "x", "1", "25", "2500 OK", "250OK", " 250 OK", "150 OK", "650 OK"];
  for (const line of [...codes, "250 \0", "250\tOK", "250 a\rb"]) {
    const parse = () => new ReplyParser().push(Buffer.from(`${line}\r\n`));
    expect(parse, JSON.stringify(line)).toThrow(DialogueError);
  }
});

test("the parser throws before an endless line or reply grows large", () => {
  const parser = new ReplyParser();
  let bytes = 0;
  expect(() => {
    for (; bytes < 1 << 20; bytes += 100) parser.push(Buffer.alloc(100, "2"));
  }).toThrow(DialogueError);
  expect(bytes).toBeLessThan(10_000);
  expect(() => new ReplyParser().push(Buffer.from("250-a\r\n".repeat(101)))).toThrow(DialogueError);
  expect(() => new ReplyParser().push(Buffer.from(`250-${"a".repeat(4000)}\r\n`.repeat(20)))).toThrow(
    DialogueError,
  );
});

test("random octets make the parser throw nothing but a DialogueError", () => {
  const pieces = ["250 ", "250-", "550 5.1.1 ", "\r\n", "\n", "\r", "\0", "x", "9"];
  for (let times = 0; times < 5000; times++) {
    const parser = new ReplyParser();
    try {
      for (let count = randomInt(20); count > 0; count--) {
        const piece = Buffer.from(pieces[randomInt(pieces.length)] ?? "");
        parser.push(randomInt(5) === 0 ? randomBytes(randomInt(8)) : piece);
      }
    } catch (error) {
      expect(error).toBeInstanceOf(DialogueError);
    }
  }
});
