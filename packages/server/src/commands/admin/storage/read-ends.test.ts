import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../../test/outrigger-process.ts";
import { readEnds } from "./read-ends.ts";

const HEAD = '{"ends":1,"at":"2026-01-01T00:00:00.000Z","tombstoneDays":30}';
const FOOT = '{"complete":true,"images":1,"suppressions":1,"unreadable":0}';
const ID = "Yk3fPq0bT1mVxR8aZ2cLdw";
const AT = "2026-01-02T00:00:00.000Z";

async function read(...lines: string[]) {
  const path = join(await temporaryDirectory(), "ends.ndjson");
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  return readEnds([path]);
}

describe("readEnds", () => {
  it("reads several lists in one file, with withheld images and suppressions", async () => {
    const withheld = { reason: "Case 1", authority: null, since: AT, deleteAfter: null };
    const token = "a".repeat(43);
    const { lists, suppressions } = await read(
      ...[HEAD, JSON.stringify({ id: ID, at: AT, why: "deleted" }), FOOT],
      ...[
        HEAD,
        JSON.stringify({ id: ID, at: AT, why: null, withheld }),
        `{"suppressions":["${token}"]}`,
        FOOT,
      ],
    );
    const at = Date.parse(AT);
    expect(lists).toEqual([
      {
        at: Date.parse("2026-01-01"),
        tombstoneMs: 30 * 86_400_000,
        ends: [{ id: ID, at, why: "deleted", withheld: null }],
      },
      expect.objectContaining({
        ends: [{ id: ID, at, why: null, withheld: { ...withheld, since: at } }],
      }),
    ]);
    expect(suppressions).toEqual([[token]]);
  });

  it.each([
    ["an empty file", [], "is empty"],
    ["a truncated list", [HEAD], "is truncated"],
    ["a truncated list before another", [HEAD, HEAD], "line 2: the previous list is truncated"],
    ["an unknown line", ['{"id":"x"}'], "line 1: is not part of a list"],
    ["an incomplete line", [HEAD, '{"id":'], "line 2: is not part of a list"],
    ["a line outside a list", [FOOT], "line 1: is outside a list"],
  ])("rejects %s and names the line", async (_, lines, problem) => {
    await expect(read(...lines)).rejects.toThrow(problem);
  });

  it("rejects a missing file", async () => {
    await expect(readEnds(["/nowhere/ends"])).rejects.toThrow(
      "--ends: /nowhere/ends cannot be read: there is no such file",
    );
  });
});
