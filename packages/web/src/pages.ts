import type { Pages } from "@outrigger/core";
import { editPage } from "./edit.ts";
import { problemPage } from "./problem.ts";
import { viewerPage } from "./viewer.ts";

export interface PagesOptions {
  /** Stands at the top and in the title of every page. 1 to 60 characters. @default "Outrigger" */
  productName?: string;
}

/** The HTML of the image service: one style sheet inside each page, no scripts, nothing loaded but the picture. */
export function createPages(options: PagesOptions = {}): Pages {
  const { productName = "Outrigger" } = options;
  if (typeof productName !== "string" || productName.trim() === "" || productName.length > 60) {
    throw new TypeError('"productName" must be a string of 1 to 60 characters');
  }
  return {
    viewer: (view, nowMs) => viewerPage(view, nowMs, productName),
    edit: (view, nowMs) => editPage(view, nowMs, productName),
    problem: (view) => problemPage(view, productName),
  };
}
