export { createSqlAccounts } from "./accounts/sql-accounts.ts";
export type { SqlBlobStore, SqlBlobStoreOptions } from "./blobs/sql-blob-store.ts";
export { createSqlBlobStore } from "./blobs/sql-blob-store.ts";
export type { BatchCounts } from "./contacts/put-batch.ts";
export type { PutContactsOptions } from "./contacts/put-contacts.ts";
export { putContacts } from "./contacts/put-contacts.ts";
export type { RefreshOptions } from "./contacts/refresh-contacts.ts";
export { refreshContacts } from "./contacts/refresh-contacts.ts";
export { createSqlContactSource } from "./contacts/sql-contact-source.ts";
export type { SqlDatabase, SqlDatabaseOptions } from "./sql-database.ts";
export { openDatabase } from "./sql-database.ts";
export { createSqlSuppressionList } from "./sql-suppression-list.ts";
export type { ContactField, FieldMapping } from "./transfer/contact-fields.ts";
export {
  checkDatabaseFile,
  copyDatabaseFile,
  exportSuppressions,
  isEmptyDatabase,
} from "./transfer/copy-database.ts";
export type { ExportOptions } from "./transfer/export-contacts.ts";
export { exportContacts } from "./transfer/export-contacts.ts";
export type { BadLine, BadLineReason } from "./transfer/file-line.ts";
export type { ImportOptions, ImportProgress } from "./transfer/import-contacts.ts";
export { importContacts } from "./transfer/import-contacts.ts";
export { createSqlVerificationQueue } from "./verifications/sql-verification-queue.ts";
