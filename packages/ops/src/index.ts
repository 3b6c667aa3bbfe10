// Copies of a storage: backup, restore, migration, verification.
export { type BackupReport, backupStorage } from "./backup.ts";
export type { EndList } from "./end-lists.ts";
export { type BackupManifest, readBackupManifest } from "./manifest.ts";
export { type MigrateOptions, type MigrationReport, migrateStorage } from "./migrate.ts";
export type {
  StorageCopyOptions,
  StorageMirrorOptions,
  StorageProgress,
  StorageRunOptions,
  StorageTrouble,
} from "./options.ts";
export { type RestoreOptions, type RestoreReport, restoreStorage } from "./restore.ts";
export { verifyStorage } from "./verification.ts";
export type {
  PlannedRemovals,
  VerifyFinding,
  VerifyOptions,
  VerifyProblem,
  VerifyReport,
} from "./verify-options.ts";
