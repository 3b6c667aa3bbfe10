import "openapi-explorer";
import "./reference.css";
import { PALETTES } from "./palettes.ts";

/** Where the mount point is, as the browser knows it: it may know it by another name than the service. */
const base = `${location.origin}${location.pathname.replace(/\/api\/?$/, "")}`;

/** What is used of OpenAPI Explorer's element, which comes without types. */
interface Explorer extends HTMLElement {
  loadSpec(description: object): Promise<void>;
}

const darkness = matchMedia("(prefers-color-scheme: dark)");
const explorer = document.createElement("openapi-explorer") as Explorer; // Its package has just been imported.
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
  main?.replaceChildren(explorer);
  await explorer.loadSpec(description);
} catch (error) {
  const notice = document.createElement("p");
  notice.textContent = `The description of the API cannot be shown. ${error instanceof Error ? error.message : ""}`;
  main?.append(notice);
}

/** The part of a description that is changed for the page. */
interface Description {
  servers?: { url: string }[];
  paths: Record<string, Record<string, { parameters?: { name: string; required?: boolean }[] }>>;
}

/** The description of what is mounted at `base`, so that its requests can be tried from this page. */
async function loadDescription(base: string): Promise<Description> {
  const response = await fetch(`${base}/api/openapi.json`);
  if (!response.ok) throw new Error(`The answer was ${response.status}.`);
  const description: Description = await response.json();
  for (const path of Object.values(description.paths)) {
    for (const { parameters = [] } of Object.values(path)) {
      // The browser sends its own, which a page cannot change.
      for (const each of parameters) if (each.name === "User-Agent") each.required = false;
    }
  }
  // Requests go to the origin of this page: those to another could not be tried.
  return { ...description, servers: [{ url: base }] };
}
