import { expect, it } from "vitest";
import { checkClock } from "./check-clock.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

/** Readings of a clock during one second of this machine's clock. */
const reading = (aheadMs: number) => ({ beforeMs: NOW, afterMs: NOW + 1000, shownMs: NOW + aheadMs });

it.each([
  [[], "ok", "equal to this machine's"],
  [[Number.NaN], "ok", "equal to this machine's"],
  [[0, 1000], "ok", "equal to this machine's"],
  [[6000, -5000], "ok", "equal to this machine's"],
  [[6001], "warning", "5 s ahead of this machine's"],
  [[-5001], "warning", "5 s behind this machine's"],
  [[61_000], "warning", "60 s ahead of this machine's"],
  [[0, 61_001, -7000], "problem", "60 s ahead of this machine's"],
  [[-3600_000], "problem", "3600 s behind this machine's"],
])("checkClock rates readings of %j ms after the start of a second as %s", (shown, status, detail) => {
  expect(checkClock("clock", shown.map(reading))).toMatchObject({ check: "clock", status, detail });
});
