import "openapi-explorer";
import "./reference.css";
import { t } from "../../src/texts.ts";
import { readTexts } from "../texts.ts";
import { type Description, loadDescription } from "./load-description.ts";

/** Colours of the explorer, by attribute. It accepts six hexadecimal digits only. */
const PALETTES = {
  light: {
    "bg-color": "#ffffff",
    "header-bg-color": "#f5f6f7",
    "text-color": "#1b1f24",
    "header-color": "#0b5f6e",
    "primary-color": "#0b5f6e",
    "secondary-color": "#0b5f6e",
    "nav-bg-color": "#f5f6f7",
    "nav-text-color": "#3b434c",
    "nav-hover-bg-color": "#e3e8ec",
    "nav-hover-text-color": "#0b5f6e",
  },
  dark: {
    "bg-color": "#1c2023",
    "header-bg-color": "#24292d",
    "text-color": "#e8eaed",
    "header-color": "#7fd0dc",
    "primary-color": "#7fd0dc",
    "secondary-color": "#7fd0dc",
    "nav-bg-color": "#131618",
    "nav-text-color": "#c3cad2",
    "nav-hover-bg-color": "#2b3136",
    "nav-hover-text-color": "#7fd0dc",
  },
} as const;

/** The mount point as the browser reached it, which may be under another host name than the service knows. */
const base = `${location.origin}${location.pathname.replace(/\/api\/?$/, "")}`;

/** The used part of OpenAPI Explorer's element, which has no types. */
interface Explorer extends HTMLElement {
  loadSpec(description: Description): Promise<void>;
}

readTexts();
const darkness = matchMedia("(prefers-color-scheme: dark)");
const explorer = document.createElement("openapi-explorer") as Explorer; // Its package is imported above.
const main = document.querySelector("main");

function paint(): void {
  for (const [name, colour] of Object.entries(darkness.matches ? PALETTES.dark : PALETTES.light)) {
    explorer.setAttribute(name, colour);
  }
}

paint();
darkness.addEventListener("change", paint);
explorer.setAttribute("hide-server-selection", "true");
// The examples of a description are not values to send.
explorer.setAttribute("hide-defaults", "true");

try {
  const description = await loadDescription(base);
  const title = main?.querySelector("h1");
  title?.classList.add("unseen");
  if (title) document.querySelector("header")?.append(title);
  // The explorer has a `main` of its own.
  main?.replaceWith(explorer);
  fitOutline(explorer);
  await explorer.loadSpec(description);
} catch (error) {
  const notice = document.createElement("p");
  notice.textContent = `${t("reference.failed")} ${error instanceof Error ? error.message : ""}`;
  (explorer.isConnected ? document.body : main)?.append(notice);
}

/**
 * Fits the explorer's headings and landmarks into the page, which has an `h1` of its own. The explorer renders anew at
 * every step, so its shadow tree is observed.
 */
function fitOutline(explorer: HTMLElement): void {
  const root = explorer.shadowRoot;
  if (root === null) return;
  const fit = () => {
    for (const title of root.querySelectorAll('h1:not([aria-level="2"])'))
      title.setAttribute("aria-level", "2");
    // The list of links lies within the menu.
    for (const list of root.querySelectorAll("nav nav:not([role])")) list.setAttribute("role", "none");
  };
  new MutationObserver(fit).observe(root, { childList: true, subtree: true });
  fit();
}
