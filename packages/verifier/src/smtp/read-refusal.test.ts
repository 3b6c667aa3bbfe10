import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readRecipientRefusal, readSessionRefusal } from "./read-refusal.ts";
import { ReplyParser, type SmtpReply } from "./smtp-reply.ts";

function reply(text: string): SmtpReply {
  const [parsed] = new ReplyParser().push(Buffer.from(`${text}\r\n`));
  if (parsed === undefined) throw new Error("The text is not a complete reply");
  return parsed;
}

const ASKED = { local: "ann", domain: "one.test", helo: "mx.two.test", mailFrom: "us@two.test" };

function read(text: string, local = "ann") {
  return readRecipientRefusal(reply(text), { ...ASKED, local });
}

/** Real replies, collected from documentation and public reports of servers: a reason and a reply a line. */
const SAID = readFileSync(new URL("../../test/read-refusals.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => line.replaceAll("\\r\\n", "\r\n").split("\t"));

test("readRecipientRefusal returns the reason of each reply", () => {
  for (const [reason, text = ""] of SAID) expect(read(text, "spam").reason, text).toBe(reason);
});

test.each([
  ["550 5.1.1 <ann@two.test>: User unknown", "two.test"],
  ["550 5.1.1 no such user at two.test", "two.test"],
  ["550 5.1.1 <ann@mail.two.test>: User unknown", "mail.two.test"],
])("a refusal for the sender's own domain may name that domain: %s", (text, domain) => {
  expect(readRecipientRefusal(reply(text), { ...ASKED, domain }).reason).toBe("user_unknown");
});

test("a reply to RCPT that cannot concern a recipient is a protocol error", () => {
  const commands = ["500 What?", "501 Syntax", "502 Not implemented", "503 Bad sequence", "504 No"];
  for (const text of [...commands, "555 Unknown parameter", "354 Go", "252 Maybe"]) {
    expect(read(text).reason, text).toBe("protocol");
  }
});

test("only a permanent refusal without a known code or text is ambiguous", () => {
  for (const text of ["550 No", "554 Transaction failed", "550 5.1.0 Address rejected", "553 5.1.3 Bad"]) {
    expect(read(text), text).toMatchObject({ reason: "policy", isAmbiguous: true });
  }
  for (const text of ["550 5.7.1 No", "550 Spam", "550 5.1.1 No", "450 No"]) {
    expect(read(text).isAmbiguous, text).toBe(false);
  }
});

test("a refusal before RCPT never concerns a mailbox, whatever its text", () => {
  for (const [, said = ""] of SAID) {
    const { reason } = readSessionRefusal(reply(said));
    expect(["policy", "temporary", "greylisted"], said).toContain(reason);
    if (said.startsWith("5")) expect(reason, said).toBe("policy");
  }
});

test.each([
  ["451 Greylisted, please try again in 300 seconds", 300_000],
  ["451 Greylisted, retry in 5 minutes", 300_000],
  ["450 Greylisted for 1 hour", 3_600_000],
  ["451 Greylisted: come back in 00:04:58", 298_000],
  ["451 Greylisted: come back in 4:58", 298_000],
  ["451 Greylisted: come back in 01:00:00", 3_600_000],
  ["451 Greylisted for 99999 hours", 21_600_000],
  ["451 Greylisted for 1 second", 30_000],
  ["451 Greylisted", null],
  ["550 5.1.1 No such user, try in 5 minutes", null],
])("the retry time is parsed from: %s", (text, retryAfterMs) => {
  expect(read(text).retryAfterMs).toBe(retryAfterMs);
});

test("pathological texts are classified in a bounded CPU time", () => {
  const began = process.cpuUsage();
  const words = ["account ", "the ip ", "user a b c d ", "exceeds x ", "no longer "];
  for (const word of [...words, "< ", "<", "@", "a@", "1", "1:"]) {
    for (const code of ["550", "450"]) {
      const lines = Array.from({ length: 16 }, () => word.repeat(4000 / word.length));
      readRecipientRefusal({ code: Number(code), enhancedCode: null, lines }, { ...ASKED, local: "user" });
    }
  }
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(20_000);
});
