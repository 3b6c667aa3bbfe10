import { join } from "node:path";
import { createLookup } from "@outrigger/core";
import { express as mountInExpress } from "@outrigger/express";
import {
  createSqlAccounts,
  createSqlContactSource,
  createSqlSuppressionList,
  openDatabase,
} from "@outrigger/sql";
import express from "express";
import Database from "libsql";
import { required } from "./required.mjs";

/** @import { Mounted, ServerOptions } from "./required.mjs" */

/** The key of an account with unlimited points, which are still counted. */
export const BENCH_KEY = "0123456789abcdef0123456789abcdef01234567";

/** @param {ServerOptions} options @returns {Promise<Mounted>} */
export async function lookupInExpress(options) {
  const database = openDatabase({ url: `file:${join(required(options, "directory"), "lookup.db")}` });
  await database.ready();
  const lookup = createLookup({
    contacts: createSqlContactSource(database),
    accounts: createSqlAccounts(database),
    suppressions: createSqlSuppressionList(database),
    secret: "the benchmark's, of at least 32 bytes",
    // One very busy client.
    requestsPerSecond: false,
  });
  const app = express();
  app.use("/people", mountInExpress(lookup));
  return {
    listener: app,
    async close() {
      await lookup.close();
      await database.close();
    },
  };
}

/** The page as one statement returns it, sent unchanged. @param {ServerOptions} options @returns {Promise<Mounted>} */
export async function statementInExpress(options) {
  const database = new Database(join(required(options, "directory"), "lookup.db"));
  const statement = database.prepare(
    `SELECT total, (
       SELECT '[' || coalesce(group_concat(packed, ','), '') || ']' FROM (
         SELECT packed FROM lookup_contacts WHERE domain_id = d.id ORDER BY doubt, address LIMIT 10
       )
     ) AS page FROM lookup_domains d WHERE name = ?`,
  );
  const app = express();
  app.get("/people/v2/domain-search", (req, res) => {
    const row = /** @type {{ total: number, page: string }} */ (statement.get(String(req.query.domain)));
    res.setHeader("Content-Type", "application/json");
    res.end(`{"data":${row.page},"meta":{"results":${row.total}}}`);
  });
  return { listener: app, close: async () => void database.close() };
}
