import { t } from "../../src/texts.ts";
import { canShare, shareLink } from "../sharing/share-link.ts";
import { readTexts, showLocalTimes } from "../texts.ts";
import { addCopyButtons } from "./copy-buttons.ts";
import { announce, button, element } from "./elements.ts";
import { addOwnBar } from "./own-bar.ts";
import { watchPicture } from "./watch-picture.ts";

const DEFAULT_WAIT_SECONDS = 2;

readTexts();
showLocalTimes();
addCopyButtons();
addShareButton();
addOwnBar();
playAnimations();
turnPagesByKeys();
handlePanes();
watchPicture();
// Without the script, the reply's `Refresh` header reloads the page.
if (document.querySelector(".pending") !== null) void awaitImage();

/** Adds the share sheet to the tools. */
function addShareButton(): void {
  const field = document.querySelector<HTMLInputElement>("#page-link");
  if (field === null || !canShare()) return;
  const hint = element("p", "hint");
  const share = async () => {
    const message = await shareLink(document.querySelector("main h1")?.textContent ?? "", field.value);
    hint.textContent = message;
    if (message !== null) announce(message);
  };
  document.querySelector(".headline")?.append(hint);
  document.querySelector(".drop:last-child")?.before(button(t("share.share"), share, "plain"));
}

/** Scrolls to a pane that opens. Closes it by Escape, and by a click beside it. */
function handlePanes(): void {
  for (const drop of document.querySelectorAll<HTMLDetailsElement>(".drop")) {
    drop.addEventListener("toggle", () => drop.lastElementChild?.scrollIntoView({ block: "nearest" }));
  }
  const close = (target: EventTarget | null) => {
    const isInside = target instanceof Element && target.closest(".toolbar") !== null;
    if (isInside) return;
    for (const open of document.querySelectorAll<HTMLDetailsElement>(".drop[open]")) {
      if (open.contains(document.activeElement)) open.querySelector("summary")?.focus();
      open.open = false;
    }
  };
  document.addEventListener("click", ({ target }) => close(target));
  document.addEventListener("keydown", ({ key }) => key === "Escape" && close(null));
}

/** Adds a button to an animation. Stopped, it shows its first frame, as it does at first under reduced motion. */
function playAnimations(): void {
  const still = document.querySelector<HTMLSourceElement>(".stage source");
  if (still === null) return;
  let isPlaying = !window.matchMedia(still.media).matches;
  const show = () => {
    player.textContent = t(isPlaying ? "viewing.stop" : "viewing.play");
  };
  const player = button("", () => {
    isPlaying = !isPlaying;
    still.media = isPlaying ? "not all" : "all";
    show();
  });
  show();
  const caption = element("figcaption");
  caption.append(player);
  document.querySelector("figure")?.append(caption);
}

/** Lets the arrow keys follow the links to the previous and the next page of a document. */
function turnPagesByKeys(): void {
  const rels: Readonly<Record<string, string>> = { ArrowLeft: "prev", ArrowRight: "next" };
  document.addEventListener("keydown", ({ key, target, altKey, ctrlKey, metaKey, shiftKey }) => {
    const rel = rels[key];
    const isTyping = target instanceof Element && target.closest("input, select, textarea") !== null;
    if (rel === undefined || isTyping || altKey || ctrlKey || metaKey || shiftKey) return;
    document.querySelector<HTMLAnchorElement>(`.turner a[rel="${rel}"]`)?.click();
  });
}

/** Polls until an image has been processed, then shows it. */
async function awaitImage(): Promise<void> {
  if (document.readyState !== "complete") {
    await new Promise((resolve) => window.addEventListener("load", resolve, { once: true }));
  }
  // Stops the browser's own reload, which the reply's `Refresh` header schedules at `load`.
  await waitFor(0);
  window.stop();
  for (let left = await secondsLeft(); left !== null; left = await secondsLeft()) await waitFor(left);
  location.reload();
}

function waitFor(seconds: number): Promise<void> {
  return new Promise((resolve) => window.setTimeout(resolve, seconds * 1000));
}

/** Seconds until the next poll; `null` when the image is ready. */
async function secondsLeft(): Promise<number | null> {
  try {
    const init: RequestInit = { headers: { Accept: "text/html" }, cache: "no-store" };
    const { status, headers } = await fetch(location.href, init);
    if (![202, 429, 503].includes(status)) return null;
    return Number(headers.get("Retry-After") ?? DEFAULT_WAIT_SECONDS);
  } catch {
    // The network is down at the moment.
    return DEFAULT_WAIT_SECONDS;
  }
}
