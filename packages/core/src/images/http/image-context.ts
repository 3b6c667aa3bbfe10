import type { Pages } from "../../contracts/pages.ts";
import type { RateLimiter } from "../../contracts/rate-limiter.ts";
import type { InFlight } from "../../http/in-flight.ts";
import type { Description } from "../../openapi/description.ts";
import type { Jobs } from "../processing/jobs.ts";
import type { ProcessingContext } from "../processing/processing-context.ts";
import type { Pins } from "../record/pin.ts";
import type { ReadRules } from "../renditions/read-request.ts";
import type { Claims } from "../uploads/claims.ts";
import type { UploadTurns } from "./upload-turns.ts";

/** What the routes of one image service share. */
export interface ImageContext extends ProcessingContext {
  jobs: Jobs;
  claims: Claims;
  inFlight: InFlight;
  /** Rejects while the secret cannot be read. */
  pins(): Promise<Pins>;
  reads: ReadRules;
  pages: Pages | null;
  description: Description;
  limiter: RateLimiter;
  uploadTurns: UploadTurns;
}
