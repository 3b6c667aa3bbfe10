import "openapi-explorer";
import "./reference.css";
import { loadDescription } from "./load-description.ts";
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
// What a description gives for an example is not what somebody wants to send.
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
