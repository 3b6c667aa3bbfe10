import { afterAll, beforeAll } from "vitest";
import { createLookupPlace } from "../../packages/server/test/lookup-place.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";

export type DatabaseKind = "embedded" | "postgres";

/** One PostgreSQL server for all tests of a file, and places for commands with a database each. */
export function lookupPlacesForAll() {
  let postgres: PostgresServer;
  let databases = 0;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.close());
  const newDatabase = () => postgres.createDatabase(`lookup${++databases}`);
  return {
    postgres: () => postgres,
    newDatabase,
    createPlace: async (kind: DatabaseKind) =>
      createLookupPlace(kind === "postgres" ? await newDatabase() : undefined),
  };
}
