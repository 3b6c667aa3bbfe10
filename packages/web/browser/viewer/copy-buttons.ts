import { announce } from "./announce.ts";

const SHOWN_MS = 2000;

/** Adds a copy button to each address field. */
export function addCopyButtons(): void {
  for (const field of document.querySelectorAll<HTMLInputElement>("input.address")) {
    const label = field.labels?.[0]?.textContent ?? "";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    // `Copy page link`; names of formats keep their capitals.
    button.setAttribute(
      "aria-label",
      `Copy ${label.replace(/^[A-Z](?=[a-z]+ )/, (first) => first.toLowerCase())}`,
    );
    button.addEventListener("click", async () => {
      const isCopied = await copy(field);
      // The text change is announced separately, because the label hides it from screen readers.
      button.textContent = isCopied ? "Copied" : "Ctrl+C";
      button.classList.toggle("done", isCopied);
      announce(isCopied ? `${label} copied` : `${label} selected. Press Ctrl+C to copy.`);
      window.setTimeout(() => {
        button.textContent = "Copy";
        button.classList.remove("done");
      }, SHOWN_MS);
    });
    field.addEventListener("focus", () => field.select());
    field.after(button);
  }
}

/** Resolves with whether the text was copied. If not, the text is selected for the reader to copy. */
async function copy(field: HTMLInputElement): Promise<boolean> {
  try {
    // On plain http there is no clipboard, despite its type; elsewhere the reader may forbid it.
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.focus();
    field.select();
    // Deprecated, but the only way without a secure context.
    return document.execCommand("copy");
  }
}
