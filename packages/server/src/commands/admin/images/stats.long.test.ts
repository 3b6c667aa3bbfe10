import { expect, it } from "vitest";
import { addRecords, images } from "../../../../test/images-command.ts";
import { temporaryDirectory } from "../../../../test/outrigger-process.ts";

it("images stats counts images by state, as a table and as JSON", async () => {
  const cwd = await temporaryDirectory();
  const now = Date.now();
  const withheld = { reason: "Under review", authority: null, since: now, deleteAfter: null };
  const ids = await addRecords(cwd, [
    { size: 2_340_000 },
    { withheld },
    { failure: "It cannot be read." },
    { gone: { at: now, why: "deleted" } },
    { gone: { at: now, why: "withheld" }, withheld },
    { expiresAt: now - 1 },
    { size: "large" },
  ]);
  const damaged = ids.at(-1);
  const { code, stdout, stderr } = await images(cwd, "stats", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    images: 7,
    bytes: 3_340_000,
    states: {
      processing: 0,
      held: 0,
      ready: 1,
      withheld: 1,
      failed: 1,
      deleted: 1,
      expired: 1,
      removed: 1,
      damaged: 1,
    },
    newer: 0,
  });
  expect(stderr).toBe(
    `outrigger: The record of image ${damaged} (key "${damaged}/record") is damaged: its field "size" is not valid\n`,
  );
  const table = await images(cwd, "stats");
  expect(table.stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["images", "7"],
    ["bytes", "3.18 MiB"],
    ["processing", "0"],
    ["held", "0"],
    ["ready", "1"],
    ["withheld", "1"],
    ["failed", "1"],
    ["deleted", "1"],
    ["expired", "1"],
    ["removed", "1"],
    ["damaged", "1"],
    [""],
  ]);
});
