import { encode } from "uqr";
import { t } from "../../src/texts.ts";

/** Light modules around the code that scanners need. */
const QUIET_ZONE = 4;
const SVG = "http://www.w3.org/2000/svg";

/** Shows the QR code of a link in a dialog. Afterwards the focus returns to the element that had it. */
export function showQrDialog(name: string, url: string): void {
  // A second click while this module was loading.
  if (document.querySelector("dialog.qr") !== null) return;
  const dialog = document.createElement("dialog");
  dialog.className = "qr";
  dialog.setAttribute("aria-labelledby", "qr-title");
  const title = document.createElement("h2");
  title.id = "qr-title";
  title.textContent = t("share.qrTitle");
  const caption = document.createElement("p");
  caption.dir = "auto";
  caption.textContent = name;
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = t("share.close");
  close.addEventListener("click", () => dialog.close());
  dialog.append(title, qrCode(url), caption, close);
  dialog.addEventListener("close", () => dialog.remove());
  // A click beside the dialog, on its backdrop.
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}

function qrCode(url: string): SVGSVGElement {
  const { data, size } = encode(url, { ecc: "M", border: QUIET_ZONE });
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", t("share.qrPicture"));
  svg.setAttribute("shape-rendering", "crispEdges");
  const paper = document.createElementNS(SVG, "rect");
  paper.setAttribute("width", String(size));
  paper.setAttribute("height", String(size));
  paper.setAttribute("fill", "#fff");
  const modules = document.createElementNS(SVG, "path");
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])));
  modules.setAttribute("d", dark.join(""));
  svg.append(paper, modules);
  return svg;
}
