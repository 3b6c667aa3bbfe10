// Image hosting from inside: the contracts of renderers and pages, and checks that the command shares with the service.
export type {
  Asset,
  CreatedView,
  EditInput,
  EditView,
  ImageView,
  Page,
  Pages,
  PlacedView,
  ProblemView,
  ReportInput,
  ReportView,
  UnlockView,
  UploadForm,
  UploadRefusal,
  UploadView,
} from "./contracts/pages.ts";
export type { PictureEdits, Watermark } from "./contracts/picture-edits.ts";
export type {
  Admission,
  AdmitOptions,
  ConvertibleType,
  FoundPlace,
  ImageFormat,
  ImageInfo,
  ImageWarning,
  Layout,
  OriginalFacts,
  OriginalType,
  PageSizes,
  PicturePreview,
  Quality,
  Renderer,
  RenderSource,
  Rendition,
  RenditionSpec,
  Sandbox,
  SandboxLevel,
  Size,
  WorkOptions,
} from "./contracts/renderer.ts";
export { IMAGES_RULES } from "./images/images-options.ts";
export { IMAGE_STATES } from "./images/life/image-listing.ts";
export { isColor, isPlaceholder } from "./images/record/record-codec.ts";
export { readWatermark } from "./images/renditions/edit-options.ts";
export type { LeaseChoice } from "./images/store/choose-leases.ts";
export { chooseLeases } from "./images/store/choose-leases.ts";
export { inspectStores } from "./images/store/inspect-stores.ts";
export type { MigrationMark } from "./images/store/store-identity.ts";
export {
  readIdentity,
  readMigrationMark,
  removeMigrationMark,
  rolesApart,
} from "./images/store/store-identity.ts";
