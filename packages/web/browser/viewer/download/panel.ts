import { sizeText } from "../../../src/phrases.ts";
import { copyText } from "../../sharing/copy-text.ts";
import { announce } from "../announce.ts";
import { button, element } from "../elements.ts";
import { readChoices } from "./choices.ts";
import { createComparison, decode } from "./comparison.ts";
import { createFields, type Wanted } from "./fields.ts";
import { receiveFile } from "./receive-file.ts";
import "./panel.css";

const COPIED_MS = 2000;
const DEBOUNCE_MS = 300;
/** Formats that browsers show in `<img>` as a raster. */
const RASTERS = ["png", "jpg", "webp", "avif", "gif"];
/** Formats of which an animation keeps its frames. */
const ANIMATED = ["gif", "webp", "svg"];

interface Panel {
  links: HTMLElement;
  start(): void;
  stop(): void;
}

let current: Panel | null = null;

/** Shows or ends the panel in `details`, as that is open. A page turn makes new `details`. */
export function togglePanel(details: HTMLDetailsElement, links: HTMLElement): void {
  if (current?.links !== links) {
    current?.stop();
    current = createPanel(details, links);
  }
  if (details.open) current.start();
  else current.stop();
}

function createPanel(details: HTMLElement, links: HTMLElement): Panel {
  const { size, width } = links.dataset;
  const originalSize = size === undefined ? "" : sizeText(Number(size));
  const stage = document.querySelector<HTMLElement>("figure .stage");
  const isAnimated = document.querySelector(".stage source") !== null;

  const fields = createFields(readChoices(links, width !== undefined), Number(width), plan);
  const line = element("p", "result");
  const note = element("p", "hint");
  const retry = button("Try again", request, "copy");
  const download = element("a", "download", "Download");
  const copy = button("Copy address", copyAddress, "copy");
  const actions = element("div", "row");
  actions.append(download, copy);
  const panel = element("div", "options");
  panel.append(...fields.elements, line, note, retry, actions);
  details.append(panel);

  const comparison = stage === null || isAnimated ? null : createComparison(stage, panel);
  let wanted: Wanted | null = null;
  let cancel = new AbortController();
  let timer: number | undefined;
  /** Address of the received file, in this page. */
  let received = "";

  /** Drops the last request and its file. */
  function drop(): void {
    window.clearTimeout(timer);
    cancel.abort();
    cancel = new AbortController();
    URL.revokeObjectURL(received);
    line.removeAttribute("aria-busy");
    line.classList.remove("trouble");
    retry.hidden = true;
  }

  /** Shows what is wanted, and requests it when the reader makes no other choice for a moment. */
  function plan(): void {
    drop();
    wanted = fields.read();
    copy.disabled = wanted === null;
    if (wanted === null) {
      download.removeAttribute("href");
      line.textContent = "";
      note.textContent = "";
      comparison?.hide();
      return;
    }
    const { choice, href, width: expected, isUntouched } = wanted;
    download.href = href;
    download.download = "";
    note.textContent = noteOn(wanted);
    if (isUntouched || !isOwnOrigin(href)) {
      showIn(line, choice.label, expected, isUntouched ? originalSize : "");
      comparison?.hide();
      return;
    }
    showIn(line, choice.label, expected, "…");
    line.setAttribute("aria-busy", "true");
    timer = window.setTimeout(request, DEBOUNCE_MS);
  }

  async function request(): Promise<void> {
    if (wanted === null) return;
    const { choice, href, width: expected } = wanted;
    const { signal } = cancel;
    line.setAttribute("aria-busy", "true");
    const result = await receiveFile(href, signal);
    if (signal.aborted || result === null) return;
    if ("reason" in result) {
      fail(result.reason);
      return;
    }
    received = URL.createObjectURL(result.blob);
    const picture = new Image();
    const isRaster = RASTERS.includes(choice.format);
    const isShown = isRaster && (await decode(picture, received));
    const isCompared = isShown && (await comparison?.load()) === true;
    if (signal.aborted) return;
    line.removeAttribute("aria-busy");
    line.classList.remove("trouble");
    const bytes = sizeText(result.blob.size);
    const was = size === undefined ? "" : `(was ${originalSize})`;
    showIn(line, choice.label, isShown ? picture.naturalWidth : expected, bytes, was);
    announce(`${choice.label}, ${bytes}`);
    download.href = received;
    download.download = result.name;
    if (document.activeElement === retry) download.focus();
    retry.hidden = true;
    if (isCompared) comparison?.show(picture, choice.label);
    else comparison?.hide();
    if (isRaster && !isShown) note.textContent = `This browser can’t show ${choice.label}.`;
  }

  function fail(reason: string): void {
    comparison?.hide();
    download.removeAttribute("href");
    line.removeAttribute("aria-busy");
    line.classList.add("trouble");
    line.textContent = reason;
    retry.hidden = false;
    announce(reason);
  }

  /** What else the reader should know about a file. */
  function noteOn({ choice: { format, isOriginal }, href, isUntouched }: Wanted): string {
    if (isUntouched) return size === undefined ? "The whole document." : "The original file.";
    if (!isOwnOrigin(href)) return "Its size is unknown, because the image comes from another address.";
    if (isAnimated) return ANIMATED.includes(format) ? "Keeps the animation." : "First frame only.";
    if (format === "jpg" && stage?.classList.contains("see-through"))
      return "Transparent parts become white.";
    if (format === "gif" && !isOriginal) return "At most 256 colours.";
    return "";
  }

  async function copyAddress(): Promise<void> {
    if (wanted === null) return;
    const isCopied = await copyText(wanted.href);
    announce(isCopied ? "Address copied" : "Couldn’t copy the address.");
    copy.textContent = isCopied ? "Copied" : "Not copied";
    window.setTimeout(() => {
      copy.textContent = "Copy address";
    }, COPIED_MS);
  }

  return {
    links,
    start: plan,
    stop() {
      drop();
      comparison?.hide();
    },
  };
}

function isOwnOrigin(href: string): boolean {
  return new URL(href).origin === location.origin;
}

/** `WebP · 1200 px · 84 KB (was 412 KB)`; parts that are unknown are left out. */
function showIn(line: HTMLElement, label: string, width: number | null, size = "", was = ""): void {
  const text = [label, width !== null && `${width} px`, size].filter(Boolean).join(" · ");
  line.textContent = text;
  // A narrow panel breaks the line before this part.
  if (was !== "") line.append(" ", element("span", "", was));
}
