import { type SqlDatabase, useDatabase } from "../sql-database.ts";

const TOKENS = 200;

/** Yields the tokens of all suppressions, at most 200 at a time. A token does not reveal its address. */
export async function* exportSuppressions(database: SqlDatabase): AsyncGenerator<string[]> {
  const driver = useDatabase(database);
  let last = "";
  for (;;) {
    const rows = await driver.all<{ token: string }>(
      `SELECT token FROM lookup_suppressions WHERE token > $1 ORDER BY token LIMIT ${TOKENS}`,
      [last],
    );
    if (rows.length === 0) return;
    const tokens = rows.map(({ token }) => token);
    yield tokens;
    last = tokens.at(-1) ?? last;
  }
}
