import type { BlobStore } from "../../contracts/blob-store.ts";
import type { Renderer } from "../../contracts/renderer.ts";
import type { ImageSettings } from "../image-settings.ts";
import type { LifeContext } from "../life/life-context.ts";
import type { Renditions } from "../renditions/renditions.ts";
import type { RenderScheduler } from "../renditions/scheduling/render-scheduler.ts";
import type { JobMarkers } from "./job-markers.ts";

/** The services that process an upload. */
export interface ProcessingContext extends LifeContext {
  settings: ImageSettings;
  originals: BlobStore;
  renditions: Renditions;
  renderer: Renderer;
  scheduler: RenderScheduler;
  markers: JobMarkers;
}
