import { expect, test } from "vitest";
import { readAdmission } from "./read-reply.ts";

const bytes = Buffer.from("0123456789");
const info = { width: 4, height: 3, pages: 1 };
const SOURCE_BYTES = 100;

test("an admission keeps its facts and the pieces of the cleaned file", () => {
  const pieces = [
    ["source", 0, 60],
    ["reply", 2, 10],
    ["source", 60, 100],
  ];
  expect(readAdmission({ ...info, cleaned: pieces }, bytes, SOURCE_BYTES)).toEqual({
    info,
    cleaned: { pieces, bytes },
  });
  const pageSizes = [[1, 4, 3]];
  expect(readAdmission({ ...info, pages: null, pageSizes, cleaned: null }, bytes, SOURCE_BYTES)).toEqual({
    info: { ...info, pages: null, pageSizes },
    cleaned: null,
  });
});

test.each([
  ["no object", null],
  ["a size that is no number", { ...info, width: "4", cleaned: null }],
  ["a fraction", { ...info, height: 1.5, cleaned: null }],
  ["a page run of two numbers", { ...info, pageSizes: [[1, 2]], cleaned: null }],
  ["too many page runs", { ...info, pageSizes: Array(33).fill([1, 2, 3]), cleaned: null }],
  ["cleaned pieces that are no list", { ...info, cleaned: "all" }],
  ["a range beyond the source", { ...info, cleaned: [["source", 0, 101]] }],
  ["a range beyond the bytes of the reply", { ...info, cleaned: [["reply", 0, 11]] }],
  ["a range that ends before it begins", { ...info, cleaned: [["source", 9, 3]] }],
  ["a range of something else", { ...info, cleaned: [["secret", 0, 1]] }],
  ["ranges that repeat the source", { ...info, cleaned: Array(3).fill(["source", 0, 50]) }],
  ["too many pieces", { ...info, cleaned: Array(1025).fill(["source", 0, 0]) }],
])("readAdmission throws for %s", (_, reply) => {
  expect(() => readAdmission(reply, bytes, SOURCE_BYTES)).toThrow("invalid reply");
});
