import { expect, test } from "vitest";
import { csvField } from "./csv-field.ts";

test.each([
  ["=1+1", "'=1+1"],
  ["\n=1+1", "\"'\n'=1+1\""],
  ["a;=1+1", '"a;\'=1+1"'],
  ["a\t+49", '"a\t\'+49"'],
  ["a\r\n@b", '"a\r\n\'@b"'],
  ["a-b, c", '"a-b, c"'],
  ["1;2", '"1;2"'],
])("csvField leaves no formula in %j, whichever separator a spreadsheet assumes", (value, field) => {
  expect(csvField(value)).toBe(field);
});

test("csvField leaves numbers as they are", () => {
  expect(csvField(-1)).toBe("-1");
});
