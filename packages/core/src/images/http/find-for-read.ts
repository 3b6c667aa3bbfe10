import type { Call } from "../../contracts/call.ts";
import { findImage, requireAlive, requireReady } from "../library/find-image.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { ImageContext } from "./image-context.ts";
import type { Audience } from "./permissions.ts";

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
