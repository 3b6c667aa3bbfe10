import { t } from "../../src/texts.ts";
import { copyText } from "../sharing/copy-text.ts";
import { announce, button } from "./elements.ts";

const SHOWN_MS = 2000;

/** A button that copies a text. Where that fails, it selects the field that has it. */
export function copyButton(label: string, what: string, field: HTMLInputElement, className = "copy") {
  const copier = button(
    label,
    async () => {
      const isCopied = await copyText(field.value);
      if (!isCopied) {
        field.closest("details")?.setAttribute("open", "");
        field.focus();
      }
      // The text change is announced separately, because the label hides it from screen readers.
      copier.textContent = t(isCopied ? "viewing.copied" : "viewing.keys");
      announce(t(isCopied ? "viewing.said" : "viewing.selected", { what }));
      window.setTimeout(() => {
        copier.textContent = label;
      }, SHOWN_MS);
    },
    className,
  );
  return copier;
}

/** Adds a copy button to each address field, and one for the page's link to the tools. */
export function addCopyButtons(): void {
  for (const field of document.querySelectorAll<HTMLInputElement>("input.address")) {
    const label = field.labels?.[0]?.textContent ?? "";
    const copier = copyButton(t("viewing.copy"), label, field);
    copier.setAttribute("aria-label", t("viewing.copyNamed", { what: label }));
    field.addEventListener("focus", () => field.select());
    field.after(copier);
    if (field.id === "page-link")
      document
        .querySelector(".toolbar")
        ?.prepend(copyButton(t("viewing.copyLink"), t("viewing.link"), field, "main"));
  }
}
