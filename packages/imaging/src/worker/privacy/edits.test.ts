import { expect, test } from "vitest";
import { Edits } from "./edits.ts";

const source = Buffer.from("0123456789");

function edited(change: (edits: Edits) => void): string | null {
  const edits = new Edits(source, "image/png");
  change(edits);
  const pieces = edits.apply();
  return pieces === null ? null : Buffer.concat(pieces).toString();
}

test("Edits removes and replaces bytes, in any order of calls", () => {
  const result = edited((edits) => {
    edits.replace(8, 9, Buffer.from("eight"));
    edits.remove(0, 2);
    edits.remove(2, 3);
    edits.replace(5, 6, Buffer.alloc(0));
  });
  expect(result).toBe("3467eight9");
});

test("Edits returns null when nothing changes", () => {
  expect(edited(() => {})).toBeNull();
  expect(edited((edits) => edits.remove(4, 4))).toBeNull();
  expect(edited((edits) => edits.replace(4, 6, Buffer.from("45")))).toBeNull();
});

test("Edits prefers an edit that contains another", () => {
  const result = edited((edits) => {
    edits.replace(3, 4, Buffer.from("inner"));
    edits.replace(2, 6, Buffer.from("outer"));
    edits.replace(2, 3, Buffer.from("first"));
  });
  expect(result).toBe("01outer6789");
});

test("Edits shares the memory of the source and does not write to it", () => {
  const edits = new Edits(source, "image/png");
  edits.replace(3, 4, Buffer.from("x"));
  const [before] = edits.apply() ?? [];
  expect(before?.buffer).toBe(source.buffer);
  expect(source.toString()).toBe("0123456789");
});

test("Edits throws for more pieces than any file has", () => {
  const large = Buffer.alloc(300_000, "ab");
  const edits = new Edits(large, "image/jpeg");
  const removeAll = () => {
    for (let start = 0; start < large.length; start += 2) edits.remove(start, start + 1);
  };
  expect(removeAll).toThrow(expect.objectContaining({ code: "unsupported_media" }));
});
