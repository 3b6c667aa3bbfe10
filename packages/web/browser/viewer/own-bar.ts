import { editAddress } from "../saved/saved-image.ts";
import { reachableBase, readSavedList, savedListKey } from "../saved/saved-list.ts";
import { copyText } from "../sharing/copy-text.ts";
import { announce, button, element } from "./elements.ts";

const SHOWN_MS = 2000;

/** Adds a bar below the heading if this browser uploaded the image: the way to the edit page, which makes every change. */
export function addOwnBar(): void {
  const heading = document.querySelector<HTMLElement>("main h1[data-id]");
  const { id, base = "" } = heading?.dataset ?? {};
  if (heading === null || id === undefined) return;
  const baseUrl = reachableBase(base, location, `/${id}`);
  const image = readSavedList(savedListKey(baseUrl)).find((each) => each.id === id);
  if (!image?.pin) return;
  const edit = element("a", "button plain", "Edit or delete");
  edit.href = editAddress({ url: `${baseUrl}/${id}`, pin: image.pin });
  const hint = element("small", "", "Anyone with this link can edit or delete the image.");
  hint.id = "edit-link-hint";
  const onCopy = async () => {
    const isCopied = await copyText(editAddress(image));
    announce(isCopied ? `Edit link copied. ${hint.textContent}` : "Couldn’t copy the edit link.");
    copy.textContent = isCopied ? "Edit link copied" : "Not copied";
    window.setTimeout(() => {
      copy.textContent = "Copy edit link";
    }, SHOWN_MS);
  };
  const copy = button("Copy edit link", onCopy, "plain");
  copy.setAttribute("aria-describedby", hint.id);
  const bar = element("div", "own");
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Your upload");
  bar.append("You uploaded this", edit, copy, hint);
  heading.after(bar);
}
