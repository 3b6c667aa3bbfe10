import { BODIES, CONTENT_TYPES } from "./hostile-bodies.ts";
import { FIELDS } from "./hostile-fields.ts";
import { FILE_NAMES } from "./hostile-file-names.ts";
import { PART_HEADERS } from "./hostile-parts.ts";
import { TRANSFER } from "./hostile-transfers.ts";
import type { HostileUpload } from "./hostile-upload.ts";

/** Every hand-made hostile upload. */
export const HOSTILE_UPLOADS: readonly HostileUpload[] = [
  ...CONTENT_TYPES,
  ...BODIES,
  ...PART_HEADERS,
  ...FIELDS,
  ...FILE_NAMES,
  ...TRANSFER,
];
