import {
  createImagesClient,
  createLookupClient,
  type ImagesClient,
  type LookupClient,
} from "@outrigger/client";
import { readOwnPackage } from "../../cli/own-package.ts";

/** Low, so that an unreachable service is reported within two seconds. */
const MAX_RETRIES = 2;

/** A verification waits that long before a busy mail server, besides its share of other lines. */
const MAX_LINE_MS = 15 * 60_000;

/** A client of the images that are mounted at `baseUrl`; the viewer shows the name of this command. */
export function imagesClientAt(baseUrl: string): ImagesClient {
  return createImagesClient({ baseUrl, userAgent: userAgent(), maxRetries: MAX_RETRIES });
}

/** A client of the lookup that is mounted at `baseUrl`. */
export function lookupClientAt(baseUrl: string, apiKey: string): LookupClient {
  return createLookupClient({
    ...{ baseUrl, apiKey, userAgent: userAgent() },
    ...{ maxRetries: MAX_RETRIES, maxRetryAfterMs: MAX_LINE_MS },
  });
}

function userAgent(): string {
  return `outrigger/${readOwnPackage().version}`;
}
