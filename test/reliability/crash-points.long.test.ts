import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { amount, isSoak } from "../support/soak.ts";
import type { Operation } from "./crash/attempt.ts";
import { killAt } from "./crash/kill-at-point.ts";
import { OPERATIONS } from "./crash/operations.ts";
import { CHANGING_CALLS, findPoints, spread } from "./crash/points.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "outrigger-crash-points-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

interface Campaign {
  /** The number of points that the operation has, that were tried, and that it reached. */
  points: number;
  tried: number;
  hits: number;
  violations: string[];
}

/** Kills an operation at up to `count` of its points, spread over all of them, two at a time, until a violation says `sought`. */
async function killEverywhere(
  operation: Operation,
  count: number,
  { calls = CHANGING_CALLS, mutant = "", sought = "" } = {},
): Promise<Campaign> {
  const newDirectory = () => mkdtemp(join(root, "data-"));
  const points = await findPoints(operation, { calls, newDirectory, isRepeated: false, mutant });
  const left = spread(points, count);
  const campaign: Campaign = { points: points.length, tried: left.length, hits: 0, violations: [] };
  const isFound = () => sought !== "" && campaign.violations.some((text) => text.includes(sought));
  const work = async () => {
    for (let point = left.shift(); point !== undefined && !isFound(); point = left.shift()) {
      const directory = await newDirectory();
      const { isHit, violations } = await killAt(operation, point, directory, mutant);
      await rm(directory, { recursive: true });
      if (isHit) campaign.hits++;
      const where = `${point.role} ${point.call} ${point.when}`;
      campaign.violations.push(...violations.map((text) => `${where}: ${text}`));
    }
  };
  await Promise.all([work(), work()]);
  return campaign;
}

const ALL = 10_000;
/** Calls that make a change visible or durable, and calls right after a removal. */
const COMMITTING_CALLS = ["link", "linkat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir"];

test.each([
  ["create", OPERATIONS.create],
  ["edit", OPERATIONS.edit],
  ["delete", OPERATIONS.delete],
  ["sweep", OPERATIONS.sweep],
] as const)(
  "a process killed at any system call of a %s leaves it complete or not done at all",
  async (name, operation) => {
    const { points, tried, hits, violations } = await killEverywhere(operation, amount(8, ALL));
    if (isSoak) console.log(`${name}: ${points} points, killed at ${hits} of ${tried}`);
    expect(violations).toEqual([]);
    expect(hits).toBeGreaterThan(tried * 0.8);
  },
);

test.each([
  ["record before the bytes", OPERATIONS.create, "half: the record answers 200"],
  ["record before the last bytes", OPERATIONS.create, "half: the record answers 200, the bytes 500"],
  ["acknowledged before it is written", OPERATIONS.create, "must be alive"],
  ["removes only the bytes", OPERATIONS.delete, "half: the record answers 200"],
] as const)("the crash checks find a store with the fault: %s", async (mutant, operation, sought) => {
  const { violations } = await killEverywhere(operation, ALL, { calls: COMMITTING_CALLS, mutant, sought });
  expect(violations).toContainEqual(expect.stringContaining(sought));
});
