import "openapi-explorer";
import "./reference.css";
import { PALETTES } from "./palettes.ts";

/** The mount point as the browser reached it, which may be under another host name than the service knows. */
const base = `${location.origin}${location.pathname.replace(/\/api\/?$/, "")}`;

/** The used part of OpenAPI Explorer's element, which has no types. */
interface Explorer extends HTMLElement {
  loadSpec(description: object): Promise<void>;
}

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
  main?.replaceChildren(explorer);
  await explorer.loadSpec(description);
} catch (error) {
  const notice = document.createElement("p");
  notice.textContent = `The API description cannot be shown. ${error instanceof Error ? error.message : ""}`;
  main?.append(notice);
}

/** The part of the API description that the page changes. */
interface Description {
  servers?: { url: string }[];
  paths: Record<string, Record<string, { parameters?: { name: string; required?: boolean }[] }>>;
}

/** The description of the API at `base`, changed so that its requests can be tried from this page. */
async function loadDescription(base: string): Promise<Description> {
  const response = await fetch(`${base}/api/openapi.json`);
  if (!response.ok) throw new Error(`The server replied ${response.status}.`);
  const description: Description = await response.json();
  for (const path of Object.values(description.paths)) {
    for (const { parameters = [] } of Object.values(path)) {
      // The browser sends its own header, which a page cannot change.
      for (const each of parameters) if (each.name === "User-Agent") each.required = false;
    }
  }
  // Requests must go to the origin of this page.
  return { ...description, servers: [{ url: base }] };
}
