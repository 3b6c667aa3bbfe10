import { isServiceError } from "@outrigger/core";
import { haveSameMarkers } from "@outrigger/core/lookup";
import { createSqlSuppressionList, openDatabase } from "@outrigger/sql";
import { serviceReasonOf } from "../../../cli/error-reason.ts";
import {
  type DatabaseTarget,
  databaseUrl,
  describeDatabase,
} from "../../../config/targets/database-target.ts";

const OTHER_SECRET =
  "the list of ends has suppressions made with another secret (lookup.secret). Pass a list of this database";

/**
 * Adds suppressions to the lookup's database, which keeps those it has.
 * @returns `null`, or the reason why they were not added, in a sentence.
 */
export async function addSuppressions(
  database: DatabaseTarget,
  lines: readonly (readonly string[])[],
): Promise<string | null> {
  const failure = (why: string) =>
    `The suppressions were not added to the lookup database ${describeDatabase(database)}: ${why}`;
  const opened = openDatabase({ url: databaseUrl(database) });
  try {
    const list = createSqlSuppressionList(opened);
    if (!(await haveSameMarkers(list, lines.flat()))) return failure(OTHER_SECRET);
    for (const tokens of lines) await list.add(tokens);
    return null;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return failure(serviceReasonOf(error));
  } finally {
    await opened.close();
  }
}
