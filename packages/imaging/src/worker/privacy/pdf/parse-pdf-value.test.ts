import { expect, test } from "vitest";
import { parsePdfValue } from "./parse-pdf-value.ts";
import { countOf, entryOf, pdfNameAt } from "./pdf-value.ts";

const parse = (text: string) => parsePdfValue(Buffer.from(text, "latin1"), 0);

test("parsePdfValue reads dictionaries with values of every kind", () => {
  const value = parse(
    "<</Type/Page /Kids[1 0 R 2 0 R]/Name /A#20B/Count +3 /Length -3 /Scale .5/On true/S(a\\)(b))/H<4142>>>",
  );
  expect(pdfNameAt(value, "Type")).toBe("Page");
  expect(pdfNameAt(value, "Name")).toBe("A B");
  expect(countOf(value, "Count")).toBe(3);
  expect(entryOf(value, "Scale")).toMatchObject({ value: 0.5 });
  expect(countOf(value, "Length")).toBeUndefined();
  expect(entryOf(value, "Kids")).toMatchObject({ items: [{ number: 1 }, { number: 2 }] });
  expect(entryOf(value, "On")).toMatchObject({ kind: "word" });
  expect(entryOf(value, "S")).toMatchObject({ kind: "string" });
  expect(entryOf(value, "H")).toMatchObject({ kind: "string" });
  expect(entryOf(value, "Missing")).toBeUndefined();
});

test.each([
  ["(a (nested) \\( one)", 19],
  ["<4142>", 6],
  ["/Name", 5],
  ["12 0 R", 6],
  ["12 0 Rest", 2],
  ["12 0", 2],
  ["-1.5", 4],
  ["[1 [2] 3]", 9],
  ["<</A<</B 1>>>>", 14],
  ["true]", 4],
  ["% a comment\n 7", 14],
])("parsePdfValue finds the end of %s", (text, end) => {
  expect(parse(text)).toMatchObject({ end });
});

test("entryOf returns the last of duplicate entries, as readers do", () => {
  expect(countOf(parse("<</A 1/A 2>>"), "A")).toBe(2);
});

test.each([
  ["stray words", "<</A 1 stray (text) 5 /B 2>>"],
  ["a key without a value", "<</B 2/A>>"],
  ["no end before the end of the object", "<</A 1/B 2 endobj"],
  ["no end before its stream", "<</A 1/B 2\nstream"],
])("parsePdfValue tolerates %s in a dictionary", (_, text) => {
  expect(countOf(parse(text), "B")).toBe(2);
});

test.each([
  "",
  "   % only a comment",
  "(no end",
  "<41",
  "[1 2",
  "<</A(",
  "<</A",
  "[1 endobj",
  "[".repeat(100_000),
])("parsePdfValue returns null for %j", (text) => {
  expect(parse(text)).toBeNull();
});
