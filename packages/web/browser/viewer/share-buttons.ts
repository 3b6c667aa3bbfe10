import { canShare, shareLink, showQr } from "../sharing/share-link.ts";
import { announce } from "./announce.ts";
import { button, element } from "./elements.ts";

/** Adds the share sheet and the QR code of the page link beside its copy button. */
export function addShareButtons(): void {
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
