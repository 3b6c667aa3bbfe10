import { expect, test } from "vitest";
import { fileNameIn } from "./download.ts";

test.each([
  [null, null],
  ["inline", null],
  ['inline; filename="a b.png"', "a b.png"],
  ['attachment; filename="quo\\"te\\\\.png"', 'quo"te\\.png'],
  ["attachment; filename=plain.png; size=1", "plain.png"],
  [`inline; filename="B_cht.png"; filename*=UTF-8''B%C3%BCcht%20%22x%22.png`, 'Bücht "x".png'],
  [`inline; filename*=utf-8'de'a.png; filename="b.png"`, "a.png"],
  [`inline; filename="b.png"; filename*=UTF-8''%ff`, "b.png"],
  ["inline; filename*=UTF-8''%ff", null],
])("fileNameIn(%s) is %s", (disposition, name) => {
  expect(fileNameIn(disposition)).toBe(name);
});
