import { ServiceError } from "@outrigger/core";
import type { Account, AccountKey, Accounts } from "@outrigger/core/lookup";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import { chargeIn, previewIn, renewIn, reserveIn, settleIn, usageIn } from "./charges.ts";

const ACCOUNT = `id, email, first_name AS "firstName", last_name AS "lastName", plan, created_at AS "createdAt"`;

/** Accounts in a database. Closing them leaves the database open. */
export function createSqlAccounts(database: SqlDatabase): Accounts {
  const driver = useDatabase(database);

  return {
    async create({ id, email, firstName, lastName, plan, createdAt }) {
      const created = await driver.run(
        `INSERT INTO lookup_accounts (id, email, first_name, last_name, plan, created_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING`,
        [id, email, firstName, lastName, plan, createdAt],
      );
      return created > 0;
    },
    get: async (id) =>
      (await driver.first<Account>(`SELECT ${ACCOUNT} FROM lookup_accounts WHERE id = $1`, [id])) ?? null,
    list: ({ limit, after }) =>
      after === undefined
        ? driver.all<Account>(`SELECT ${ACCOUNT} FROM lookup_accounts ORDER BY seq LIMIT $1`, [limit])
        : driver.all<Account>(
            `SELECT ${ACCOUNT} FROM lookup_accounts
             WHERE seq > (SELECT seq FROM lookup_accounts WHERE id = $2) ORDER BY seq LIMIT $1`,
            [limit, after],
          ),
    async addKey(account, keyHash, { hint, createdAt, revokedAt }) {
      const added = await driver.run(
        `INSERT INTO lookup_keys (hash, account, hint, created_at, revoked_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (hash) DO NOTHING`,
        [keyHash, account, hint, createdAt, revokedAt],
      );
      if (added === 0) throw new ServiceError("conflict", "This API key exists already.");
    },
    async findByKey(keyHash) {
      const row = await driver.first<Account>(
        `SELECT ${ACCOUNT} FROM lookup_accounts
         WHERE id = (SELECT account FROM lookup_keys WHERE hash = $1 AND revoked_at IS NULL)`,
        [keyHash],
      );
      return row ?? null;
    },
    keys: (account) =>
      driver.all<AccountKey>(
        `SELECT hint, created_at AS "createdAt", revoked_at AS "revokedAt" FROM lookup_keys
         WHERE account = $1 ORDER BY seq`,
        [account],
      ),
    revokeKeys: (account, hint, atMs) =>
      driver.run(
        `UPDATE lookup_keys SET revoked_at = $3
         WHERE account = $1 AND revoked_at IS NULL AND substr(hint, 1, length($2)) = $2`,
        [account, hint, atMs],
      ),
    reserve: (charge, points, allowance, nowMs) => reserveIn(driver, charge, points, allowance, nowMs),
    preview: (charge, points, allowance, nowMs) => previewIn(driver, charge, points, allowance, nowMs),
    charge: (charge, points, allowance, nowMs) => chargeIn(driver, charge, points, allowance, nowMs),
    renew: (charges, nowMs) => renewIn(driver, charges, nowMs),
    settle: (charge, points) => settleIn(driver, charge, points),
    usage: (account, month, nowMs) => usageIn(driver, account, month, nowMs),
    close: () => driver.close(),
  };
}
