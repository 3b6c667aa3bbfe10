import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { type PostgresServer, startPostgres } from "../../../test/support/postgres-server.ts";
import { lookupContracts, recordsContracts } from "../test/contracts.ts";
import { openDatabase, type SqlDatabase } from "./sql-database.ts";

describe("in an embedded database", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "outrigger-sql-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  contracts(() => `file:${join(directory, "lookup.db")}`);
});

describe("in PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());
  contracts(() => server.url);
  recordsContracts(() => server.url);
});

function contracts(url: () => string): void {
  let [one, another]: SqlDatabase[] = [];
  beforeAll(() => {
    [one, another] = [url(), url()].map((each) => openDatabase({ url: each, timeoutMs: 20_000 }));
  });
  afterAll(async () => {
    await Promise.all([one?.close(), another?.close()]);
  });
  const opened = (database: SqlDatabase | undefined) => database ?? openDatabase({ url: url() });
  lookupContracts(
    () => opened(one),
    () => opened(another),
  );
}
