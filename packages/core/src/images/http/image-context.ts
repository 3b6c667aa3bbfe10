import type { Call } from "../../contracts/call.ts";
import type { Pages } from "../../contracts/pages.ts";
import type { RateLimiter } from "../../contracts/rate-limiter.ts";
import type { Description } from "../../openapi/description.ts";
import type { ImageSettings } from "../image-settings.ts";
import type { LibraryContext } from "../library/library-context.ts";
import type { Permissions } from "./permissions.ts";
import type { UploadGate } from "./upload-slots.ts";

/** The parts that the routes of one image service share. */
export interface ImageContext {
  library: LibraryContext;
  settings: ImageSettings;
  permissions: Permissions;
  limiter: RateLimiter;
  uploads: UploadGate;
  pages: Pages | null;
  description: Description;
}

/** Absolute URL of the mount point, without a trailing slash. */
export function baseUrl({ settings }: ImageContext, call: Call): string {
  return settings.publicUrl ?? call.origin + call.mountPath;
}
