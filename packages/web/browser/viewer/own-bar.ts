import { t } from "../../src/texts.ts";
import { editAddress } from "../saved/saved-image.ts";
import { reachableBase, readSavedList, savedListKey } from "../saved/saved-list.ts";
import { copyButton } from "./copy-buttons.ts";
import { element } from "./elements.ts";

/** Adds the way to the edit page to the other tools, if this browser uploaded the image. */
export function addOwnBar(): void {
  const { id, base = "" } = document.querySelector<HTMLElement>("main h1[data-id]")?.dataset ?? {};
  if (id === undefined) return;
  const baseUrl = reachableBase(base, location, `/${id}`);
  const image = readSavedList(savedListKey(baseUrl)).find((each) => each.id === id);
  if (!image?.pin) return;
  const edit = element("a", "button plain", t("viewing.edit"));
  edit.href = editAddress({ url: `${baseUrl}/${id}`, pin: image.pin });
  const hint = element("small", "hint", t("viewing.editHint"));
  hint.id = "edit-link-hint";
  const link = element("input", "address");
  Object.assign(link, { readOnly: true, value: editAddress(image), hidden: true });
  const copy = copyButton(t("viewing.copyEdit"), t("viewing.editLink"), link, "plain");
  copy.setAttribute("aria-describedby", hint.id);
  const bar = element("div", "own");
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", t("viewing.own"));
  bar.append(edit, copy, hint, link);
  document.querySelector(".more")?.append(bar);
}
