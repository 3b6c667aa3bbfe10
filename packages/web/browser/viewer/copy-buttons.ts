import { announce } from "./announce.ts";

const SHOWN_MS = 2000;

/** Puts a button that copies beside each address. */
export function addCopyButtons(): void {
  for (const field of document.querySelectorAll<HTMLInputElement>("input.address")) {
    const label = field.labels?.[0]?.textContent ?? "";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${label}`);
    button.addEventListener("click", async () => {
      const isCopied = await copy(field);
      // The label goes meanwhile: it would hide from speech what the button says.
      button.textContent = isCopied ? "Copied" : "Ctrl+C";
      button.classList.toggle("done", isCopied);
      announce(isCopied ? `${label} copied` : `${label} is selected: copy it with your keyboard`);
      window.setTimeout(() => {
        button.textContent = "Copy";
        button.classList.remove("done");
      }, SHOWN_MS);
    });
    field.addEventListener("focus", () => field.select());
    field.after(button);
  }
}

/** Whether the text is on the clipboard; else it is selected, for the reader to copy. */
async function copy(field: HTMLInputElement): Promise<boolean> {
  try {
    // On plain http there is no clipboard, whatever its type says, and elsewhere the reader may forbid it.
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.focus();
    field.select();
    // Deprecated, and the only way without a secure context.
    return document.execCommand("copy");
  }
}
