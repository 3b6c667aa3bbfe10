import { note } from "../cli/print.ts";
import { type DatabaseTarget, describeDatabase } from "../config/targets/database-target.ts";

/** Says on standard error which database a command uses: with another one than the app's, success would mean nothing. */
export function noteDatabase(target: DatabaseTarget, isNew = false): void {
  note(`lookup database ${describeDatabase(target)}${isNew ? " (new)" : ""}`);
}
