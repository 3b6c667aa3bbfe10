import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { type PostgresServer, startPostgres } from "../../../test/support/postgres-server.ts";
import { lookupContracts, recordsContracts } from "../test/contracts.ts";

describe("in an embedded database", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "outrigger-sql-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  lookupContracts(() => `file:${join(directory, "lookup.db")}`);
});

describe("in PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());
  lookupContracts(() => server.url);
  recordsContracts(() => server.url);
});
