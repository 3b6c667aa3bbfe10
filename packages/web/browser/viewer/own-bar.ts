import { expirySteps, expiryText } from "../saved/expiry.ts";
import {
  createImageEdits,
  type EditOutcome,
  type ImageChange,
  type ImageEdits,
} from "../saved/image-edits.ts";
import { readSavedList, type SavedChange, withChange, writeSavedList } from "../saved/saved-list.ts";
import { serverNow } from "../saved/server-clock.ts";
import { copyText } from "../sharing/copy-text.ts";
import { announce } from "./announce.ts";
import { button, element } from "./elements.ts";
import { localText } from "./local-time.ts";
import type { OwnImage } from "./own-image.ts";
import { cancelDeletion, isDeletionPending, startDeletion } from "./pending-deletion.ts";
import { renameForm } from "./rename-form.ts";

const TICK_MS = 30_000;

interface Shown {
  bar: HTMLElement;
  own: OwnImage;
  edits: ImageEdits;
  reload(): Promise<boolean>;
}

/** The present bar. A page turn makes another one. */
let current: Shown | null = null;

/** Adds a bar below the heading, with which the uploader extends, renames, edits and deletes the image. */
export function showOwnBar(heading: HTMLElement, own: OwnImage, reload: () => Promise<boolean>): void {
  const bar = element("div", "own");
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Your upload");
  const edits = createImageEdits({ baseUrl: own.baseUrl, id: own.image.id, pin: own.image.pin });
  current = { bar, own, edits, reload };
  heading.after(bar);
  // The reader can turn pages while a deletion is pending.
  if (isDeletionPending()) showDeletion(current);
  else showControls(current);
}

function showControls(shown: Shown): void {
  const { bar, own } = shown;
  const { image, baseUrl } = own;
  const edit = element("a", "button", "Edit");
  edit.href = `${baseUrl}/${image.id}/edit?pin=${encodeURIComponent(image.pin)}`;
  const hint = element("small", "", "Anyone with this link can edit or delete the image.");
  hint.id = "edit-link-hint";
  const copy = button("Copy edit link", async () => {
    const isCopied = await copyText(`${image.url}/edit?pin=${encodeURIComponent(image.pin)}`);
    announce(isCopied ? `Edit link copied. ${hint.textContent}` : "Couldn’t copy the edit link.");
    copy.textContent = isCopied ? "Edit link copied" : "Not copied";
    window.setTimeout(() => {
      copy.textContent = "Copy edit link";
    }, 2000);
  });
  copy.setAttribute("aria-describedby", hint.id);
  bar.replaceChildren(
    expiryLine(shown),
    ...stepButtons(shown),
    button("Rename", () => showRenaming(shown)),
    edit,
    button("Delete", () => showDeletion(shown), "harmful"),
    copy,
    hint,
  );
}

function expiryLine({ own: { expiresAt } }: Shown): HTMLElement {
  const text = element("span");
  const tick = () => {
    text.textContent = `You uploaded this · ${expiryText(expiresAt, serverNow())}`;
  };
  tick();
  const timer = window.setInterval(() => {
    if (text.isConnected) tick();
    else window.clearInterval(timer);
  }, TICK_MS);
  return text;
}

function stepButtons(shown: Shown): HTMLButtonElement[] {
  const { expiresAt, maxLifetimeMs } = shown.own;
  return expirySteps(expiresAt, { nowMs: serverNow(), maxLifetimeMs }).map(({ label, atMs }) =>
    button(label, () => change(shown, { expiresAt: new Date(atMs).toISOString() }, label)),
  );
}

function changeSaved({ listKey, image }: OwnImage, change: SavedChange): void {
  writeSavedList(listKey, withChange(readSavedList(listKey), image.id, change));
}

function showRenaming(shown: Shown): void {
  const name = document.querySelector("main h1")?.textContent ?? shown.own.image.name;
  const form = renameForm(name, {
    onName: (chosen) => change(shown, { name: chosen }, "Rename"),
    onCancel() {
      showControls(shown);
      focusButton("Rename");
    },
  });
  shown.bar.replaceChildren(form);
  form.querySelector("input")?.select();
}

/** Changes the image, then shows the page anew and focuses the button with this label, or the next one. */
async function change(shown: Shown, wanted: ImageChange, label: string): Promise<void> {
  const { bar, own, edits, reload } = shown;
  if (bar.hasAttribute("aria-busy")) return;
  bar.setAttribute("aria-busy", "true");
  const outcome = await edits.change(wanted);
  bar.removeAttribute("aria-busy");
  if (outcome.kind !== "saved") {
    refuse(shown, outcome, "Not changed.");
    return;
  }
  const { name, expiresAt } = outcome;
  changeSaved(own, { name, expiresAt });
  if (!(await reload())) {
    location.reload();
    return;
  }
  focusButton(label);
  const expiry = expiresAt === null ? "never expires" : `expires on ${localText(Date.parse(expiresAt))}`;
  announce(wanted.name === undefined ? `The image ${expiry}.` : `Renamed to ${name}.`);
}

function refuse(shown: Shown, outcome: EditOutcome, what: string): void {
  if (outcome.kind !== "failed") {
    location.reload();
    return;
  }
  shown.bar.querySelector(".trouble")?.remove();
  const trouble = element("p", "trouble", `${what} ${outcome.reason}`);
  trouble.setAttribute("role", "alert");
  shown.bar.append(trouble);
}

/** Shows an offer to undo in place of the image, until the deletion is sent. */
function showDeletion({ bar, edits, own }: Shown): void {
  if (!isDeletionPending()) {
    startDeletion(edits, {
      onSent: () => current?.bar.replaceChildren("Deleting…"),
      // The upload page sends it again if this request does not arrive.
      onLeaving: () => changeSaved(own, { leaving: { from: "service", atMs: 0 } }),
      onSettled: endDeletion,
    });
  }
  const undo = button("Undo", () => {
    cancelDeletion();
    showKept();
    focusButton("Delete");
    announce("The image was not deleted.");
  });
  bar.closest("main")?.classList.add("deleting");
  bar.replaceChildren("Deleted.", undo);
  undo.focus();
  announce("Deleted. You can undo this for 8 seconds.");
}

function endDeletion(outcome: EditOutcome): void {
  if (current === null) return;
  if (outcome.kind === "failed") {
    showKept();
    focusButton("Delete");
    refuse(current, outcome, "Not deleted.");
    return;
  }
  const { listKey, image } = current.own;
  writeSavedList(
    listKey,
    readSavedList(listKey).filter(({ id }) => id !== image.id),
  );
  location.reload();
}

function showKept(): void {
  if (current === null) return;
  current.bar.closest("main")?.classList.remove("deleting");
  showControls(current);
}

/** Focuses the button of the bar with this label; its first one, if that is missing. */
function focusButton(label: string): void {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>(".own button")];
  (buttons.find(({ textContent }) => textContent === label) ?? buttons[0])?.focus();
}
