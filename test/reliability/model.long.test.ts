import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Servers, STORAGE_NAMES, type StorageName, startServers } from "../backends/servers.ts";
import { amount, partOf } from "../support/soak.ts";
import { type Cluster, startCluster, type TestImage } from "./model/cluster.ts";
import type { ImageModel } from "./model/image-model.ts";
import { isLinearizable } from "./model/linearize.ts";
import type { HistoryEvent, Operation } from "./model/operation.ts";

const CLIENTS = 3;
const PROCESSES = 3;
/** Histories on each storage; a write to S3 takes some tens of milliseconds. */
const RUNS: Record<StorageName, number> = {
  "a directory": amount(40, 5_000),
  Redis: amount(60, 5_000),
  "a Redis cluster": amount(60, 5_000),
  S3: amount(25, 2_000),
  "S3 with records in Redis": amount(40, 2_000),
  "S3 with records in PostgreSQL": amount(40, 2_000),
};
/** A broken store must be found within this many runs. */
const MUTANT_RUNS = 150;

const STORAGES = partOf(STORAGE_NAMES, ["a directory", "Redis", "S3"]);
const MUTANTS: readonly [string, StorageName][] = [
  ["unconditional writes", "a directory"],
  ["stale records", "a directory"],
  ["late writes", "a directory"],
  ["unconditional writes", "Redis"],
  ["unconditional writes", "S3"],
  ["stale records", "a Redis cluster"],
  ["late writes", "S3 with records in Redis"],
  ["unconditional writes", "S3 with records in PostgreSQL"],
];

let servers: Servers;
beforeAll(async () => {
  servers = await startServers(STORAGES);
});
afterAll(() => servers.close());

/** A client's next step; it learns the image's state on the way. */
interface Intent {
  kind: Operation["kind"];
  process: number;
  /** Sends the entity tag that it saw last. */
  isConditional: boolean;
}

const intent: fc.Arbitrary<Intent> = fc.record({
  kind: fc.oneof(
    { weight: 4, arbitrary: fc.constant("read" as const) },
    { weight: 2, arbitrary: fc.constant("picture" as const) },
    { weight: 4, arbitrary: fc.constantFrom("rename" as const, "prolong" as const) },
    { weight: 1, arbitrary: fc.constantFrom("withhold" as const, "release" as const, "sweep" as const) },
    { weight: 1, arbitrary: fc.constantFrom("delete" as const, "expire" as const) },
  ),
  process: fc.nat({ max: PROCESSES - 1 }),
  isConditional: fc.boolean(),
});

const plans = fc.array(fc.array(intent, { minLength: 1, maxLength: 6 }), {
  minLength: CLIENTS,
  maxLength: CLIENTS,
});

/** Each client carries out its plan, all at once; records what they saw. */
async function play(cluster: Cluster, image: TestImage, plan: Intent[][]): Promise<HistoryEvent[]> {
  const history: HistoryEvent[] = [];
  let serial = 0;
  const clients = plan.map(async (intents) => {
    let etag: string | null = null;
    for (const { kind, process, isConditional } of intents) {
      serial++;
      const operation = operationOf(kind, image, serial, isConditional ? etag : null);
      const invokedAt = performance.now();
      const outcome = await cluster.run(process, image, operation);
      history.push({ operation, outcome, invokedAt, returnedAt: performance.now() });
      etag = outcome.etag ?? etag;
    }
  });
  await Promise.all(clients);
  return history;
}

function operationOf(
  kind: Operation["kind"],
  { expiresAt }: TestImage,
  serial: number,
  ifMatch: string | null,
): Operation {
  if (kind === "rename") return { kind, ifMatch, name: `name ${serial}` };
  if (kind === "prolong") return { kind, ifMatch, expiresAt: expiresAt + serial };
  return kind === "delete" ? { kind, ifMatch } : { kind };
}

function modelOf({ name, expiresAt }: TestImage): ImageModel {
  const isNothing = { isDeleted: false, isExpired: false, isWithheld: false };
  return { name, expiresAt, ...isNothing, etag: null, formerEtags: [] };
}

/** Every history of an image must be possible on one process, one operation after the other. */
function linearizability(cluster: Cluster) {
  return fc.asyncProperty(plans, async (plan) => {
    const image = await cluster.create();
    const history = await play(cluster, image, plan);
    const last = { kind: "read" as const };
    const invokedAt = performance.now();
    const outcome = await cluster.run(1, image, last);
    history.push({ operation: last, outcome, invokedAt, returnedAt: performance.now() });
    if (isLinearizable(modelOf(image), history)) return;
    throw new Error(`No order of these explains what was seen:\n${history.map(tell).join("\n")}`);
  });
}

function tell({ operation, outcome, invokedAt, returnedAt }: HistoryEvent): string {
  const span = `${invokedAt.toFixed(1)}–${returnedAt.toFixed(1)}`;
  return `${span} ${JSON.stringify(operation)} → ${JSON.stringify(outcome)}`;
}

describe.each(STORAGES)("linearizability of several processes on %s", (name) => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(PROCESSES, servers.createStorage(name));
  });
  afterAll(() => cluster.close());

  test("the history of an image on several processes is one that a single process could produce", async () => {
    await fc.assert(linearizability(cluster), { numRuns: RUNS[name], endOnFailure: true });
  });
});

test.each(MUTANTS.filter(([, name]) => STORAGES.includes(name)))(
  "the check finds processes with a broken store: %s, %s",
  async (mutant, name) => {
    const cluster = await startCluster(PROCESSES, servers.createStorage(name), mutant);
    try {
      const { failed } = await fc.check(linearizability(cluster), {
        numRuns: MUTANT_RUNS,
        endOnFailure: true,
      });
      expect(failed).toBe(true);
    } finally {
      await cluster.close();
    }
  },
);
