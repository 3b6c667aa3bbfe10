import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { deniesMailbox } from "./converse.ts";
import { readRecipientRefusal } from "./read-refusal.ts";
import { ReplyParser } from "./smtp-reply.ts";

const ASKED = { local: "ann", domain: "one.test", helo: "mx.two.test", mailFrom: "us@two.test" };

/** Replies to RCPT, one a line; `\r\n` separates the lines of a reply. */
function textsOf(name: string): string[] {
  const url = new URL(`../../test/${name}-refusals.txt`, import.meta.url);
  return readFileSync(url, "utf8").trimEnd().split("\n");
}

const CERTAIN = textsOf("certain");
const DOUBTFUL = textsOf("doubtful");

function denies(text: string, encoding: "utf8" | "latin1", asked = ASKED): boolean {
  const bytes = Buffer.from(`${text.replaceAll("\\r\\n", "\r\n")}\r\n`, encoding);
  const [reply] = new ReplyParser().push(bytes);
  if (reply === undefined) throw new Error(`Not a complete reply: ${text}`);
  return deniesMailbox(readRecipientRefusal(reply, asked));
}

const isLatin1 = (text: string) => /^[\0-\xff]*$/.test(text);

test("refusals about a mailbox in 25 languages, in UTF-8 and Latin-1, deny it", () => {
  expect(CERTAIN.filter((text) => !denies(text, "utf8"))).toEqual([]);
  expect(CERTAIN.filter((text) => isLatin1(text) && !denies(text, "latin1"))).toEqual([]);
});

test("refusals that may concern the sender, the server or a filter of strangers deny no mailbox in any language", () => {
  expect(DOUBTFUL.filter((text) => denies(text, "utf8"))).toEqual([]);
  expect(DOUBTFUL.filter((text) => isLatin1(text) && denies(text, "latin1"))).toEqual([]);
});

test("a word for the sender makes every refusal doubtful, whatever else it says", () => {
  for (const word of ["Absender", "expéditeur", "REMITENTE", "отправитель", "发件人", "送信者", "gönderen"]) {
    for (const text of ["550 5.1.1 User unknown", "550 Benutzer unbekannt", "550 用户不存在"]) {
      expect(denies(`${text} (${word})`, "utf8"), `${text} ${word}`).toBe(false);
    }
  }
});

test("a text in an unknown script or encoding makes 5.1.1 doubtful, and no text at all does not", () => {
  const windows1251 = Buffer.from([0xce, 0xf2, 0xef, 0xf0, 0xe0, 0xe2, 0xe8, 0xf2, 0xe5, 0xeb, 0xfc]);
  expect(denies(`550 5.1.1 ${windows1251.toString("latin1")}`, "latin1")).toBe(false);
  expect(denies("550 5.1.1 ผู้ใช้", "utf8")).toBe(false);
  for (const text of [
    "550 5.1.1",
    "550 5.1.1 <ann@one.test>",
    "550 5.1.1 ann",
    "550 5.1.1 No",
    "550 5.1.1 (x1-2005)",
  ])
    expect(denies(text, "utf8"), text).toBe(true);
});

test("a name that is a word of refusals does not turn another refusal into one of the mailbox", () => {
  for (const local of ["mailbox", "user", "postfach"]) {
    expect(denies(`550 Address ${local} rejected`, "utf8", { ...ASKED, local }), local).toBe(false);
  }
});

test.each(["user", "mailbox", "unknown", "ann.lee", "not-known", "no"])(
  "the repeated name of the mailbox %s does not hide that a refusal denies it",
  (local) => {
    const asked = { ...ASKED, local };
    expect(denies(`550 5.1.1 <${local}@one.test>: User unknown`, "utf8", asked)).toBe(true);
    expect(denies(`550 No such user ${local}`, "utf8", asked)).toBe(true);
  },
);
