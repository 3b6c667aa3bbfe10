import type { Schema } from "../schema/ensure-schema.ts";
import { type BlobTables, PARTS } from "./blob-statements.ts";

/** The tables of a store. */
export function blobSchema(tables: BlobTables): Schema {
  return { marker: tables.schema, version: 1, table: tables.blobs, create: () => createTables(tables) };
}

function createTables({ blobs, due, leases }: BlobTables): string[] {
  return [
    `CREATE TABLE ${blobs} (
      part smallint NOT NULL,
      key text COLLATE "C" NOT NULL,
      revision text COLLATE "C" NOT NULL,
      bytes bytea NOT NULL,
      state text COLLATE "C",
      size bigint,
      owner text COLLATE "C",
      created_at bigint,
      expires_at bigint,
      delete_after bigint,
      PRIMARY KEY (part, key)
    ) PARTITION BY LIST (part)`,
    `CREATE INDEX ${blobs}_owner ON ${blobs} (part, owner, key) WHERE owner IS NOT NULL`,
    // Few records have no facts, so that this index is almost empty.
    `CREATE INDEX ${blobs}_unknown ON ${blobs} (part, key) WHERE state IS NULL AND key LIKE '%/record'`,
    `CREATE TABLE ${due} (
      part smallint NOT NULL,
      list text COLLATE "C" NOT NULL,
      due_ms bigint NOT NULL,
      id text COLLATE "C" NOT NULL,
      PRIMARY KEY (list, due_ms, id, part)
    ) PARTITION BY LIST (part)`,
    // The room lets an update stay on its page, where it changes no index.
    `DO $body$ BEGIN
      FOR part IN 0..${PARTS - 1} LOOP
        EXECUTE format('CREATE TABLE ${blobs}_%s PARTITION OF ${blobs} FOR VALUES IN (%s) WITH (fillfactor = 90)', part, part);
        EXECUTE format('CREATE TABLE ${due}_%s PARTITION OF ${due} FOR VALUES IN (%s)', part, part);
      END LOOP;
    END $body$`,
    // Unlogged: a crash of the server ends all leases, and no lease waits for the disk.
    `CREATE UNLOGGED TABLE ${leases} (
      key text COLLATE "C" PRIMARY KEY,
      proof text NOT NULL,
      expires_at timestamptz NOT NULL
    )`,
    `CREATE INDEX ${leases}_expiry ON ${leases} (expires_at)`,
  ];
}
