import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { amount, isSoak } from "../support/soak.ts";
import type { Operation } from "./crash/attempt.ts";
import { failAt } from "./crash/fault-at-point.ts";
import { startHost } from "./crash/host-process.ts";
import { OPERATIONS } from "./crash/operations.ts";
import { CHANGING_CALLS, findPoints, LOOKING_CALLS, type Point, spread } from "./crash/points.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "outrigger-file-faults-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** Errors of disks that are damaged, full, or mounted read-only, and of processes with too many open files. */
const ERRORS: Record<string, readonly string[]> = {
  openat: ["EIO", "EMFILE", "ENOSPC", "EROFS"],
  close: ["EIO"],
  write: ["EIO", "ENOSPC"],
  writev: ["EIO", "ENOSPC"],
  pwrite64: ["EIO", "ENOSPC"],
  fsync: ["EIO", "ENOSPC"],
  fdatasync: ["EIO", "ENOSPC"],
};
const NAME_ERRORS = ["EIO", "ENOSPC", "EROFS"];
const LOOK_ERRORS = ["EIO"];

/**
 * Threads also write to wake each other, a varying number of times, so the file's call may come a little earlier or
 * later.
 */
const OFFSETS = [0, -1, 1, -2, 2];

interface Fault {
  point: Point;
  error: string;
}

interface Campaign {
  faults: number;
  tried: number;
  hits: number;
  /** Number of replies per status. */
  statuses: Record<string, number>;
  violations: string[];
}

function faultsAt(point: Point): Fault[] {
  const errors = LOOKING_CALLS.includes(point.call) ? LOOK_ERRORS : (ERRORS[point.call] ?? NAME_ERRORS);
  return errors.map((error) => ({ point, error }));
}

/**
 * Makes up to `count` of an operation's calls fail, one at a time. All run in one process while it stays alive; or, if
 * not `isRepeated`, each runs in a new process on a new directory.
 */
async function failEverywhere(
  operation: Operation,
  count: number,
  { calls = [...CHANGING_CALLS, ...LOOKING_CALLS], isRepeated = true, mutant = "" } = {},
): Promise<Campaign> {
  const newDirectory = () => mkdtemp(join(root, "data-"));
  const points = await findPoints(operation, { calls, newDirectory, isRepeated, mutant });
  const faults = points.filter(({ isAnswer }) => !isAnswer).flatMap(faultsAt);
  const tries = spread(faults, count);
  const campaign: Campaign = {
    faults: faults.length,
    tried: tries.length,
    hits: 0,
    statuses: {},
    violations: [],
  };
  let directory = await newDirectory();
  let host = await startHost(directory, mutant);
  for (const { point, error } of tries) {
    for (const offset of point.call === "write" ? OFFSETS : [0]) {
      if (!isRepeated) {
        await host.kill();
        directory = await newDirectory();
      }
      if (!host.isAlive()) host = await startHost(directory, mutant);
      const when = Math.max(1, point.when + offset);
      const { isHit, status, violations } = await failAt(
        operation,
        { ...point, when },
        error,
        host,
        directory,
      );
      const where = `${error} of ${point.role} ${point.call} ${when}`;
      campaign.violations.push(...violations.map((text) => `${where}: ${text}`));
      if (!isHit) continue;
      campaign.hits++;
      campaign.statuses[`${status}`] = (campaign.statuses[`${status}`] ?? 0) + 1;
      break;
    }
  }
  await host.kill();
  return campaign;
}

const ALL = 10_000;

test.each([
  ["create", OPERATIONS.create, 24],
  ["edit", OPERATIONS.edit, 24],
  ["delete", OPERATIONS.delete, 24],
  ["sweep", OPERATIONS.sweep, 24],
  ["read", OPERATIONS.read, 24],
  ["first create", OPERATIONS.create, 8],
] as const)(
  "a %s with a failing system call either succeeds completely, or is refused and changes nothing",
  async (name, operation, quick) => {
    const isRepeated = name !== "first create";
    const campaign = await failEverywhere(operation, amount(quick, ALL), { isRepeated });
    const { faults, tried, hits, statuses, violations } = campaign;
    if (isSoak)
      console.log(`${name}: ${faults} faults, ${hits} of ${tried} met: ${JSON.stringify(statuses)}`);
    expect(violations).toEqual([]);
    expect(hits).toBeGreaterThan(tried * 0.8);
  },
);

test.each([
  ["deaf to a failed flush", "was not flushed"],
  ["tries a failed flush again", "was flushed again"],
])("the fault checks find a store with the fault: %s", async (mutant, violation) => {
  const { violations } = await failEverywhere(OPERATIONS.create, ALL, { calls: ["fsync"], mutant });
  expect(violations).toContainEqual(expect.stringContaining(violation));
});
