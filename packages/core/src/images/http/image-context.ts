import type { Call } from "../../contracts/call.ts";
import type { Pages } from "../../contracts/pages.ts";
import type { RateLimiter } from "../../contracts/rate-limiter.ts";
import type { Description } from "../../openapi/description.ts";
import type { ImageSettings } from "../image-settings.ts";
import { findImage, requireAlive, requireReady } from "../library/find-image.ts";
import type { LibraryContext } from "../library/library-context.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { Audience, Permissions } from "./permissions.ts";
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

/** An image, and who may see the reply. */
export interface Viewing {
  current: CurrentRecord;
  audience: Audience;
}

/**
 * Loads a living image for a client that reads it. Rejects like `requireAlive`, then with `forbidden`, last with
 * `processing`: a client that may not see an image must not learn its progress either.
 */
export async function findForRead(
  { library, permissions }: ImageContext,
  call: Call,
  id: string,
): Promise<Viewing> {
  const current = await findImage(library, id, call.signal);
  const audience = await permissions.permitRead(call, current.record);
  // The host's decision may have taken long enough for the image to end.
  if (permissions.areAsked) await requireAlive(library, current);
  requireReady(library, current);
  return { current, audience };
}
