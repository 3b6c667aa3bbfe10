import type { Page, Pages, PlacedView } from "@outrigger/core/images";
import { checkOptions, rules } from "@outrigger/core/stores";
import { absoluteAddress } from "./addresses.ts";
import { loadAssets } from "./assets.ts";
import { createdPage } from "./created.ts";
import type { Site } from "./document.ts";
import { editPage, unlockPage } from "./edit/edit.ts";
import { LANGUAGE_RULES, Languages } from "./messages/languages.ts";
import { problemPage } from "./problem.ts";
import { reportPage } from "./report.ts";
import { uploadPage } from "./upload.ts";
import { viewerPage } from "./viewer.ts";

const RULES = {
  /** Name in the head and title of every page, 1 to 60 characters. @default "Outrigger" */
  productName: rules.preset(
    "Outrigger",
    rules.text("a text of 1 to 60 characters", (name) => name.trim() !== "" && name.length <= 60),
  ),
  /**
   * How to reach you, for the footer of every page: an email address, or a `mailto:`, `https:` or `http:` URL.
   * @default no link
   */
  contact: rules.text("an email address, or a mailto: or http(s) URL", (given) => contactUrl(given) !== null),
  /** Absolute http(s) URL of your terms, for the footer of every page. @default no link */
  terms: rules.text("an absolute http(s) URL", (given) => absoluteAddress(given) !== null),
  ...LANGUAGE_RULES,
};

/** The URL of a contact; `null` if it is neither an email address nor a URL. */
function contactUrl(given: string): string | null {
  if (absoluteAddress(given) !== null) return given;
  const address = given.replace(/^mailto:/i, "");
  return /^[^\s@<>"?&%#]+@[^\s@<>"?&%#]+$/.test(address) ? `mailto:${address}` : null;
}

export interface PagesOptions extends rules.Options<typeof RULES> {}

/**
 * Creates the HTML pages of the image service. Pages load nothing from other sites, and run only scripts and styles
 * that their policy names. Throws `TypeError` for an invalid option.
 */
export function createPages(options: PagesOptions = {}): Pages {
  const { productName, contact, terms, ...language } = checkOptions("createPages", options, RULES);
  const site: Site = { productName, contact: contactUrl(contact ?? "") ?? undefined, terms };
  const languages = new Languages("createPages", language);
  const forReader = ({ acceptLanguage }: PlacedView, page: () => Page) =>
    languages.render(acceptLanguage, page);
  // Fails now, not on the first request, when the built files are missing.
  const assets = loadAssets();
  return {
    productName,
    viewer: (view, nowMs) => forReader(view, () => viewerPage(view, nowMs, site)),
    created: (view) => forReader(view.image, () => createdPage(view, site)),
    edit: (view, nowMs) => forReader(view.image, () => editPage(view, nowMs, site)),
    report: (view) => forReader(view, () => reportPage(view, site)),
    upload: (view, nowMs) => forReader(view, () => uploadPage(view, nowMs, site)),
    unlock: (view) => forReader(view, () => unlockPage(view, site)),
    asset: assets.get,
    problem: (view) => forReader(view, () => problemPage(view, site)),
  };
}
