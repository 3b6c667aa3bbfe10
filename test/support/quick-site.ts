import { createHeaderRenderer } from "@outrigger/testing";
import {
  type Site,
  type SiteOptions,
  startSite as startRenderingSite,
  withSite as withRenderingSite,
} from "./service.ts";

/** As that of service.ts, without render processes: every rendition is a picture of 1 × 1 pixels. */
export function startSite(options: SiteOptions = {}): Promise<Site> {
  return startRenderingSite({ renderer: createHeaderRenderer(), ...options });
}

/** As that of service.ts, without render processes. */
export function withSite(options: SiteOptions, run: (site: Site) => Promise<void>): Promise<void> {
  return withRenderingSite({ renderer: createHeaderRenderer(), ...options }, run);
}
