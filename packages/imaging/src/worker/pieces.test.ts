import { expect, test } from "vitest";
import { MAX_PIECES } from "../shared/wire.ts";
import { describePieces } from "./admit.ts";

const source = Buffer.from("0123456789");

test("parts of the source become ranges, joined where one continues another, and the rest new bytes", () => {
  const parts = [
    source.subarray(0, 2),
    source.subarray(2, 4),
    Buffer.from("ab"),
    Buffer.from("c"),
    source.subarray(7),
  ];
  expect(describePieces(source, parts)).toEqual({
    pieces: [
      ["source", 0, 4],
      ["reply", 0, 3],
      ["source", 7, 10],
    ],
    bytes: Buffer.from("abc"),
  });
});

test("bytes in the same memory, but outside of the source, are new bytes", () => {
  const within = source.subarray(2, 6);
  expect(describePieces(within, [source.subarray(5, 8)])).toEqual({
    pieces: [["reply", 0, 3]],
    bytes: Buffer.from("567"),
  });
});

test("more pieces than a reply may have become new bytes", () => {
  const long = Buffer.alloc(4 * MAX_PIECES, "abcd");
  const parts = Array.from({ length: MAX_PIECES + 1 }, (_, index) => long.subarray(2 * index, 2 * index + 1));
  const { pieces, bytes } = describePieces(long, parts);
  expect(pieces).toEqual([["reply", 0, MAX_PIECES + 1]]);
  expect(bytes).toEqual(Buffer.concat(parts));
});
