import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { lookupContracts } from "../test/contracts.ts";

describe("in an embedded database", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "outrigger-sql-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  lookupContracts(() => `file:${join(directory, "lookup.db")}`);
});
