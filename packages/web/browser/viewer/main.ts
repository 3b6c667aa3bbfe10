import { setClockByDocument } from "../saved/server-clock.ts";
import { canShare, shareLink, showQr } from "../sharing/share-link.ts";
import { addCopyButtons } from "./copy-buttons.ts";
import { countDown } from "./count-down.ts";
import { addDownloadControl } from "./download-control.ts";
import { announce, button, element } from "./elements.ts";
import { showLocalTimes } from "./local-time.ts";
import { addOwnBar } from "./own-bar.ts";

setClockByDocument();
showLocalTimes();
countDown();
addCopyButtons();
addShareButtons();
addDownloadControl();
addOwnBar();
playAnimations();
turnPagesByKeys();
if (document.querySelector(".pending") !== null) {
  // Without the script, the reply's `Refresh` header reloads the page.
  import("./await-image.ts").then(({ awaitImage }) => awaitImage()).catch(() => undefined);
}

/** Adds the share sheet and the QR code of the page link beside its copy button. */
function addShareButtons(): void {
  const field = document.querySelector<HTMLInputElement>("#address-page");
  if (field === null) return;
  const name = document.querySelector("main h1")?.textContent ?? "";
  const hint = element("p", "hint");
  const act = (text: string, open: typeof showQr) =>
    button(
      text,
      async () => {
        const message = await open(name, field.value);
        hint.textContent = message;
        if (message !== null) announce(message);
      },
      "copy",
    );
  const qr = act("QR", showQr);
  qr.setAttribute("aria-label", "QR code of the page link");
  field.parentElement?.append(...(canShare() ? [act("Share…", shareLink)] : []), qr, hint);
}

/** Adds a button to an animation. Stopped, it shows its first frame, as it does at first under reduced motion. */
function playAnimations(): void {
  const still = document.querySelector<HTMLSourceElement>(".stage source");
  if (still === null) return;
  let isPlaying = !window.matchMedia(still.media).matches;
  const show = () => {
    player.textContent = isPlaying ? "Stop animation" : "Play animation";
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
