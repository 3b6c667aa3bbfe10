import type { BlobStore } from "../../contracts/blob-store.ts";
import type { Renderer } from "../../contracts/renderer.ts";
import type { FairGate } from "../../http/fair-gate.ts";
import type { DueList } from "../../stores/due-list.ts";
import type { ImageSettings } from "../image-settings.ts";
import type { LifeContext } from "../life/create-life.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { RenderGate } from "../renditions/render-gate.ts";
import type { Renditions } from "../renditions/renditions.ts";

/** The services that process an upload. */
export interface ProcessingContext extends LifeContext {
  settings: ImageSettings;
  originals: BlobStore;
  renditions: Renditions;
  renderer: Renderer;
  renders: RenderGate;
  /** Slots for calls of `inspect`. */
  inspections: FairGate;
  /**
   * Entries of images that have, or may have, pending work; due at the time of their creation. An entry is added before the
   * record and removed after all other traces of the work.
   */
  pending: DueList;
}

/** An image with pending work. */
export type Job = Pick<ImageRecord, "id" | "createdAt">;
