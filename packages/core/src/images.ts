// Image hosting: service, library, administration, backup, migration, and the contracts behind them.
export type * from "./contracts/pages.ts";
export type * from "./contracts/picture-edits.ts";
export type * from "./contracts/renderer.ts";
export { MAX_PAGE_RUNS } from "./contracts/renderer.ts";
export type * from "./images/authorize.ts";
export type { BackedUpLookup, BackupManifest } from "./images/backup/backup-manifest.ts";
export { readBackupManifest } from "./images/backup/backup-manifest.ts";
export type { BackupOptions, BackupReport } from "./images/backup/backup-storage.ts";
export { backupStorage } from "./images/backup/backup-storage.ts";
export type { EndList } from "./images/backup/end-lists.ts";
export type { RestoreOptions, RestoreReport } from "./images/backup/restore-options.ts";
export { restoreStorage } from "./images/backup/restore-storage.ts";
export { IMAGES_RULES } from "./images/image-settings.ts";
export type { CloseOptions, Images } from "./images/images.ts";
export { createImages } from "./images/images.ts";
export type {
  ImageRateLimits,
  ImagesOptions,
  ImportUrlsOptions,
} from "./images/images-options.ts";
export type * from "./images/library/image-library.ts";
export type { ImageSource, UrlSource } from "./images/library/spool-source.ts";
export type { CountOptions, ImageCounts, ImageStats } from "./images/life/count-images.ts";
export type * from "./images/life/image-admin.ts";
export { createImageAdmin } from "./images/life/image-admin.ts";
export type { ImageEnd, ImageFilter, ImageState, ListedImage } from "./images/life/image-listing.ts";
export { IMAGE_STATES } from "./images/life/image-listing.ts";
export type { SweepReport } from "./images/life/sweep-images.ts";
export type { SweepOptions } from "./images/life/sweeper.ts";
export type { WithholdOptions } from "./images/life/withhold.ts";
export type * from "./images/migrate/migrate-options.ts";
export { migrateStorage } from "./images/migrate/migrate-storage.ts";
export type { OwnerLimits, Usage } from "./images/owners/owner-usage.ts";
export type { ImageDetails } from "./images/record/image-links.ts";
export type { GoneReason, Withholding } from "./images/record/image-record.ts";
export type { ImageSummary, PurgedImage, PurgeReason } from "./images/record/image-summary.ts";
export type { Secret } from "./images/record/pin.ts";
export { isColor, isPlaceholder } from "./images/record/record-codec.ts";
export { sniffType } from "./images/record/sniff.ts";
export type { ImageStorage } from "./images/record/storage-roles.ts";
export type { PictureEditOptions, WatermarkOptions } from "./images/renditions/edit-options.ts";
export { readWatermark } from "./images/renditions/edit-options.ts";
export type { PresetOption } from "./images/renditions/presets.ts";
export type { SizeSteps, SizesOption } from "./images/renditions/sizes.ts";
export type { AddressedRendition, AddressOptions } from "./images/renditions/write-address.ts";
export type { SendfileOptions } from "./images/sendfile.ts";
export type { LeaseChoice } from "./images/store/choose-leases.ts";
export { chooseLeases, NO_LEASES_WARNING } from "./images/store/choose-leases.ts";
export type { InspectedStores } from "./images/store/inspect-stores.ts";
export { inspectStores } from "./images/store/inspect-stores.ts";
export type { MigrationMark } from "./images/store/migration-mark.ts";
export { readMigrationMark, removeMigrationMark } from "./images/store/migration-mark.ts";
export type { BytesRole, HeldMark } from "./images/store/role-marks.ts";
export { rolesApart } from "./images/store/role-marks.ts";
export type { HeldIdentity, StoreIdentity } from "./images/store/store-identity.ts";
export { readIdentity } from "./images/store/store-identity.ts";
export type * from "./images/verify/verify-options.ts";
export { verifyStorage } from "./images/verify/verify-storage.ts";
