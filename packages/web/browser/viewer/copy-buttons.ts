import { copyText } from "../sharing/copy-text.ts";
import { announce, button } from "./elements.ts";

const SHOWN_MS = 2000;

/** Adds a copy button to each address field. */
export function addCopyButtons(): void {
  for (const field of document.querySelectorAll<HTMLInputElement>("input.address")) {
    const label = field.labels?.[0]?.textContent ?? "";
    const copier = button(
      "Copy",
      async () => {
        const isCopied = await copyText(field.value);
        if (!isCopied) field.select();
        // The text change is announced separately, because the label hides it from screen readers.
        copier.textContent = isCopied ? "Copied" : "Ctrl+C";
        copier.classList.toggle("done", isCopied);
        announce(isCopied ? `${label} copied` : `${label} selected. Press Ctrl+C to copy.`);
        window.setTimeout(() => {
          copier.textContent = "Copy";
          copier.classList.remove("done");
        }, SHOWN_MS);
      },
      "copy",
    );
    // `Copy page link`; names of formats keep their capitals.
    copier.setAttribute(
      "aria-label",
      `Copy ${label.replace(/^[A-Z](?=[a-z]+ )/, (first) => first.toLowerCase())}`,
    );
    field.addEventListener("focus", () => field.select());
    field.after(copier);
  }
}
