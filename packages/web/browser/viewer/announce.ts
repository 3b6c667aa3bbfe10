/** Announces a text to screen readers once. */
export function announce(text: string): void {
  let region = document.getElementById("said");
  if (region === null) {
    region = document.createElement("div");
    region.id = "said";
    region.className = "unseen";
    region.setAttribute("role", "status");
    document.body.append(region);
  }
  region.textContent = text;
}
