import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Deployment, startDeployment } from "./backends/deployment.ts";
import { createMaterial, type Material } from "./backends/material.ts";
import { createPlace, PLACE_NAMES } from "./backends/place.ts";
import { describeCreating } from "./backends/script/creating.ts";
import { describeEdits } from "./backends/script/edits.ts";
import { describeEndings } from "./backends/script/endings.ts";
import { describeReading } from "./backends/script/reading.ts";
import type { Stage } from "./backends/script/stage.ts";
import { describeUploads } from "./backends/script/uploads.ts";
import { type Servers, startServers } from "./backends/servers.ts";
import type { HostName } from "./support/hosts.ts";
import { partOf } from "./support/soak.ts";

const HOSTS: HostName[] = ["Express 5", "Koa 3", "Hono"];
const PLACES = partOf(PLACE_NAMES, ["a directory", "Redis", "S3 with records in PostgreSQL"]);
/** The storages have the hosts in turns. */
const CASES = PLACES.map((place, index) => [HOSTS[index % HOSTS.length] ?? "Express 5", place] as const);

let servers: Servers;
let material: Material;
beforeAll(async () => {
  [servers, material] = await Promise.all([startServers(PLACES), createMaterial()]);
});
afterAll(() => servers.close());

// One script, the same for all: what it expects knows neither the framework nor the storage.
describe.each(CASES)("two services in %s on %s", (host, place) => {
  let deployment: Deployment;
  let openBefore: number;
  beforeAll(async () => {
    const kept = createPlace(servers, place);
    // The connection by which the test looks is there from now on.
    await kept.names();
    openBefore = await countDescriptors();
    deployment = await startDeployment(host, kept);
  });
  afterAll(() => deployment.close());

  const stage: Stage = {
    get deployment() {
      return deployment;
    },
    get material() {
      return material;
    },
  };
  describeUploads(stage);
  describeReading(stage);
  describeEdits(stage);
  describeCreating(stage);
  describeEndings(stage);

  test("two closed services leave no connection open", async () => {
    const { one, other } = deployment;
    expect([one.errors, other.errors]).toEqual([[], []]);
    await deployment.close();
    await expect.poll(countDescriptors).toBeLessThanOrEqual(openBefore);
  });
});

/** Files, sockets and pipes that this process has open. */
async function countDescriptors(): Promise<number> {
  return (await readdir("/proc/self/fd")).length;
}
