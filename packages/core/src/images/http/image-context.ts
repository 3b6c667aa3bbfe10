import type { BlobStore } from "../../contracts/blob-store.ts";
import type { Pages } from "../../contracts/pages.ts";
import type { RateLimiter } from "../../contracts/rate-limiter.ts";
import type { Renderer } from "../../contracts/renderer.ts";
import type { InFlight } from "../../http/in-flight.ts";
import type { Description } from "../../openapi/description.ts";
import type { ImageSettings } from "../image-settings.ts";
import type { LifeContext } from "../life/life-context.ts";
import type { JobMarkers } from "../processing/job-markers.ts";
import type { Jobs } from "../processing/jobs.ts";
import type { Pins } from "../record/pin.ts";
import type { ReadRules } from "../renditions/read-request.ts";
import type { RenderScheduler } from "../renditions/render-scheduler.ts";
import type { Renditions } from "../renditions/renditions.ts";
import type { Claims } from "../uploads/claims.ts";
import type { UploadTurns } from "./upload-turns.ts";

/** What it takes to process an upload. */
export interface ProcessingContext extends LifeContext {
  settings: ImageSettings;
  originals: BlobStore;
  renditions: Renditions;
  renderer: Renderer;
  scheduler: RenderScheduler;
  markers: JobMarkers;
}

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
