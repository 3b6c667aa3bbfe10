import { afterAll, beforeAll } from "vitest";
import { type PostgresServer, startPostgres } from "../../../test/support/postgres-server.ts";
import { lookupContracts, recordsContracts } from "../test/contracts.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

lookupContracts(() => server.url);
recordsContracts(() => server.url);
