// What a backup of the lookup copies and checks.
export {
  checkDatabaseFile,
  copyDatabaseFile,
  exportSuppressions,
  isEmptyDatabase,
} from "./transfer/copy-database.ts";
