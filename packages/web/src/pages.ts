import type { Pages } from "@outrigger/core";
import { loadAssets } from "./assets.ts";
import { editPage } from "./edit.ts";
import { problemPage } from "./problem.ts";
import { referencePage } from "./reference.ts";
import { unlockPage } from "./unlock.ts";
import { uploadPage } from "./upload.ts";
import { viewerPage } from "./viewer.ts";

export interface PagesOptions {
  /** Stands at the top and in the title of every page. 1 to 60 characters. @default "Outrigger" */
  productName?: string;
}

/** The HTML of the image service. Nothing is loaded from elsewhere, no script or style stands in a page that its policy does not name. */
export function createPages(options: PagesOptions = {}): Pages {
  const { productName = "Outrigger" } = options;
  if (typeof productName !== "string" || productName.trim() === "" || productName.length > 60) {
    throw new TypeError('"productName" must be a string of 1 to 60 characters');
  }
  // What is missing is said now, not to the first visitor.
  loadAssets();
  return {
    viewer: (view, nowMs) => viewerPage(view, nowMs, productName),
    edit: (view, nowMs) => editPage(view, nowMs, productName),
    upload: (view) => uploadPage(view, productName),
    unlock: (view) => unlockPage(view, productName),
    reference: (view) => referencePage(view, productName),
    asset: (name) => loadAssets().get(name),
    problem: (view) => problemPage(view, productName),
  };
}
