import { expect, it } from "vitest";
import { addRecords, images } from "../../../../test/images-command.ts";
import { temporaryDirectory } from "../../../../test/outrigger-process.ts";
import { table } from "./stats.ts";

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
      ready: 1,
      withheld: 1,
      failed: 1,
      deleted: 1,
      expired: 1,
      removed: 1,
      damaged: 1,
    },
    newer: 0,
    isEstimate: false,
    readShare: 1,
    margin: null,
  });
  expect(stderr).toBe(
    `outrigger: The record of image ${damaged} (key "${damaged}/record") is damaged: its field "size" is not valid\n`,
  );
  expect((await images(cwd, "stats", "--exact", "--json")).stdout).toBe(stdout);
  const table = await images(cwd, "stats");
  expect(table.stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["images", "7"],
    ["bytes", "3.3 MB"],
    ["processing", "0"],
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

it("images stats shows the margin of each estimate, and names --exact", () => {
  const states = {
    processing: 0,
    ready: 990_000,
    withheld: 40,
    failed: 0,
    deleted: 0,
    expired: 9_960,
    removed: 0,
    damaged: 0,
  };
  const none = { processing: 147, failed: 147, deleted: 147, removed: 147, damaged: 147 };
  const margin = {
    images: 13_000,
    bytes: 46_000_000_000,
    states: { ...none, ready: 13_000, withheld: 200, expired: 1_200 },
    newer: 147,
  };
  const bytes = 2_300_000_000_000;
  const estimate = { isEstimate: true, readShare: 0.02, margin };
  const text = table({ images: 1_000_000, bytes, states, newer: 0, ...estimate });
  expect(text).toBe(`images        1000000  ± 1.3 %
bytes          2.3 TB  ± 2.0 %
processing          0  (at most 147)
ready          990000  ± 1.3 %
withheld           40  (at most 240)
failed              0  (at most 147)
deleted             0  (at most 147)
expired          9960  ± 12 %
removed             0  (at most 147)
damaged             0  (at most 147)
Estimated from 2.0 % of the images, with 95 % confidence; --exact counts all images
`);
});
