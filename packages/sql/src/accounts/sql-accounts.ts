import { ServiceError } from "@outrigger/core";
import type { Account, AccountKey, Accounts } from "@outrigger/core/lookup";
import { useDatabase } from "../database-use.ts";
import type { SqlDatabase } from "../sql-database.ts";
import { chargeIn, previewIn, renewIn, reserveIn, settleIn, usageIn } from "./charges.ts";

const ACCOUNT = "id, email, first_name, last_name, plan, created_at";

/** Accounts in a database. Closing them leaves the database open. */
export function createSqlAccounts(database: SqlDatabase): Accounts {
  const use = useDatabase(database);

  return {
    async create({ id, email, firstName, lastName, plan, createdAt }) {
      const driver = await use.driver();
      const created = await driver.run(
        `INSERT INTO lookup_accounts (${ACCOUNT}) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING`,
        [id, email, firstName, lastName, plan, createdAt],
      );
      return created > 0;
    },
    async get(id) {
      const driver = await use.driver();
      const row = await driver.first<AccountRow>(`SELECT ${ACCOUNT} FROM lookup_accounts WHERE id = $1`, [
        id,
      ]);
      return row === undefined ? null : accountOf(row);
    },
    async list({ limit, after }) {
      const driver = await use.driver();
      const rows =
        after === undefined
          ? await driver.all<AccountRow>(`SELECT ${ACCOUNT} FROM lookup_accounts ORDER BY seq LIMIT $1`, [
              limit,
            ])
          : await driver.all<AccountRow>(
              `SELECT ${ACCOUNT} FROM lookup_accounts
               WHERE seq > (SELECT seq FROM lookup_accounts WHERE id = $2) ORDER BY seq LIMIT $1`,
              [limit, after],
            );
      return rows.map(accountOf);
    },
    async addKey(account, keyHash, { hint, createdAt, revokedAt }) {
      const driver = await use.driver();
      const added = await driver.run(
        `INSERT INTO lookup_keys (hash, account, hint, created_at, revoked_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (hash) DO NOTHING`,
        [keyHash, account, hint, createdAt, revokedAt],
      );
      if (added === 0) throw new ServiceError("conflict", "This API key exists already.");
    },
    async findByKey(keyHash) {
      const driver = await use.driver();
      const row = await driver.first<AccountRow>(
        `SELECT ${ACCOUNT} FROM lookup_accounts
         WHERE id = (SELECT account FROM lookup_keys WHERE hash = $1 AND revoked_at IS NULL)`,
        [keyHash],
      );
      return row === undefined ? null : accountOf(row);
    },
    async keys(account) {
      const driver = await use.driver();
      const rows = await driver.all<KeyRow>(
        "SELECT hint, created_at, revoked_at FROM lookup_keys WHERE account = $1 ORDER BY seq",
        [account],
      );
      return rows.map(keyOf);
    },
    async revokeKeys(account, hint, atMs) {
      const driver = await use.driver();
      return await driver.run(
        `UPDATE lookup_keys SET revoked_at = $3
         WHERE account = $1 AND revoked_at IS NULL AND substr(hint, 1, length($2)) = $2`,
        [account, hint, atMs],
      );
    },
    reserve: async (charge, points, allowance, nowMs) =>
      reserveIn(await use.driver(), charge, points, allowance, nowMs),
    preview: async (charge, points, allowance, nowMs) =>
      previewIn(await use.driver(), charge, points, allowance, nowMs),
    charge: async (charge, points, allowance, nowMs) =>
      chargeIn(await use.driver(), charge, points, allowance, nowMs),
    renew: async (charges, nowMs) => renewIn(await use.driver(), charges, nowMs),
    settle: async (charge, points) => settleIn(await use.driver(), charge, points),
    usage: async (account, month, nowMs) => usageIn(await use.driver(), account, month, nowMs),
    close: use.close,
  };
}

interface AccountRow {
  id: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  plan: string;
  created_at: number;
}

interface KeyRow {
  hint: string;
  created_at: number;
  revoked_at: number | null;
}

function accountOf(row: AccountRow): Account {
  const { id, email, first_name: firstName, last_name: lastName, plan, created_at: createdAt } = row;
  return { id, email, firstName, lastName, plan, createdAt };
}

function keyOf({ hint, created_at: createdAt, revoked_at: revokedAt }: KeyRow): AccountKey {
  return { hint, createdAt, revokedAt };
}
