import { expect, test } from "vitest";
import { receiveBytes } from "./receive-fields.ts";

test("bytes() rejects a body over maxBytes that a parser of the host has read, and takes one within", async () => {
  const req = { headers: {}, isTaken: true };
  const limits = { maxBytes: 10, idleMs: 1000, minBytesPerSecond: 1 };
  const taken: number[] = [];
  const receive = (bytes: Uint8Array) =>
    receiveBytes(
      Object.assign(Object.create(null), req),
      limits,
      async (piece) => void taken.push(piece.length),
      new AbortController().signal,
      () => bytes,
    );
  await expect(receive(new Uint8Array(11))).rejects.toMatchObject({ code: "too_large" });
  await receive(new Uint8Array(10));
  expect(taken).toEqual([10]);
});
