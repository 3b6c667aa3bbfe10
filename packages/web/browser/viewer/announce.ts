import { element } from "./elements.ts";

/** Announces a text to screen readers once. */
export function announce(text: string): void {
  let region = document.getElementById("said");
  if (region === null) {
    region = element("div", "unseen");
    region.id = "said";
    region.setAttribute("role", "status");
    document.body.append(region);
  }
  region.textContent = text;
}
