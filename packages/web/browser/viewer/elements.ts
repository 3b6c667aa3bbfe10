/** An element with a class and a text. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = "",
  text = "",
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (className !== "") made.className = className;
  made.textContent = text;
  return made;
}

/** A button that submits no form. */
export function button(text: string, onClick: () => void, className = ""): HTMLButtonElement {
  const made = element("button", className, text);
  made.type = "button";
  made.addEventListener("click", onClick);
  return made;
}

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
