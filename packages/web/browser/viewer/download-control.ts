import { announce, element } from "./elements.ts";

/** Originals whose size cannot be chosen: documents and drawings, and the JPEG, of which a smaller one is a rendition. */
const FIXED_ORIGINAL = /\.(?:jpg|svg|pdf)$/;

/** Makes one control of the list of downloads: a format, a width where it can be chosen, and the link to that file. */
export function addDownloadControl(): void {
  const list = document.querySelector<HTMLElement>(".downloads");
  if (list === null) return;
  const links = [...list.querySelectorAll("a")];
  const { width: natural, maxWidth = "" } = list.dataset;

  const format = element("select");
  format.id = "download-format";
  format.append(...links.map(({ textContent }, index) => new Option(textContent ?? "", String(index))));
  const width = element("input");
  Object.assign(width, { id: "download-width", type: "number", required: true, min: "1", max: maxWidth });
  width.value = natural ?? "";
  const hint = element("small");
  hint.id = "download-width-hint";
  width.setAttribute("aria-describedby", hint.id);
  const widthRow = element("div", "width");
  widthRow.append(width, hint);
  const widthLabel = labelOf(width, "Width");
  const download = element("a", "button main download", "Download");
  download.download = "";

  const show = () => {
    const link = links[Number(format.value)];
    if (link === undefined) return;
    const address = new URL(link.href);
    const isFixed = link.matches(".original") && FIXED_ORIGINAL.test(address.pathname);
    const isSizable = natural !== undefined && !isFixed;
    widthLabel.hidden = !isSizable;
    widthRow.hidden = !isSizable;
    const isWrong = isSizable && !width.validity.valid;
    hint.textContent = isWrong ? `Choose 1 to ${maxWidth} px.` : `px, up to ${maxWidth}`;
    hint.className = isWrong ? "fault" : "";
    if (isSizable && width.value !== natural) address.searchParams.set("resize", `${width.value}x`);
    download.href = address.href;
    if (isWrong) {
      width.setAttribute("aria-invalid", "true");
      download.removeAttribute("href");
      announce(hint.textContent);
    } else width.removeAttribute("aria-invalid");
  };
  format.addEventListener("change", show);
  width.addEventListener("input", show);
  show();
  list.replaceWith(labelOf(format, "Format"), format, widthLabel, widthRow, download);
}

function labelOf(field: HTMLElement, text: string): HTMLLabelElement {
  const label = element("label", "", text);
  label.htmlFor = field.id;
  return label;
}
