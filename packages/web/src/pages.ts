import type { Pages } from "@outrigger/core/images";
import { checkOptions, type RuleTable, rules } from "@outrigger/core/stores";
import { loadAssets } from "./assets.ts";
import { createdPage } from "./created.ts";
import { editPage } from "./edit/edit.ts";
import { problemPage } from "./problem.ts";
import { referencePage } from "./reference.ts";
import { unlockPage } from "./unlock.ts";
import { uploadPage } from "./upload.ts";
import { viewerPage } from "./viewer.ts";

export interface PagesOptions {
  /** Name shown at the top and in the title of every page. 1 to 60 characters. @default "Outrigger" */
  productName?: string | undefined;
}

const RULES = {
  productName: rules.preset(
    "Outrigger",
    rules.text("a text of 1 to 60 characters", (name) => name.trim() !== "" && name.length <= 60),
  ),
} satisfies RuleTable<PagesOptions>;

/**
 * Creates the HTML pages of the image service. Pages load nothing from other sites, and run only scripts and styles
 * that their policy names. Throws `TypeError` for an invalid option.
 */
export function createPages(options: PagesOptions = {}): Pages {
  const { productName } = checkOptions("createPages", options, RULES);
  // Fails now, not on the first request, when the built files are missing.
  const assets = loadAssets();
  return {
    viewer: (view, nowMs) => viewerPage(view, nowMs, productName),
    created: (view) => createdPage(view, productName),
    edit: (view, nowMs) => editPage(view, nowMs, productName),
    upload: (view, nowMs) => uploadPage(view, nowMs, productName),
    unlock: (view) => unlockPage(view, productName),
    reference: (view) => referencePage(view, productName),
    asset: assets.get,
    problem: (view) => problemPage(view, productName),
  };
}
