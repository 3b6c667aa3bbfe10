import { button, element } from "./elements.ts";

const MAX_NAME_LENGTH = 255;

export interface RenameEvents {
  onName(name: string): void;
  onCancel(): void;
}

/** A form for a new name. Escape cancels. */
export function renameForm(name: string, { onName, onCancel }: RenameEvents): HTMLFormElement {
  const form = element("form");
  const field = element("input");
  field.value = name;
  field.required = true;
  field.maxLength = MAX_NAME_LENGTH;
  field.dir = "auto";
  field.autocomplete = "off";
  field.setAttribute("aria-label", "Name");
  form.append(field, element("button", "", "Save"), button("Cancel", onCancel));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onName(field.value);
  });
  form.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") onCancel();
  });
  return form;
}
