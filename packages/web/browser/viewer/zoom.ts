import { announce } from "./announce.ts";
import { hasModifier } from "./turn-pages.ts";

/** The fitted picture of a zoomed stage, to put back. */
const fitted = new WeakMap<Element, HTMLImageElement>();

/** The latest zoom in progress; a page turn or a second click drops it. */
let latest = 0;

/** A point of a picture, as fractions of its sides, and the place in the window where it stays. */
interface Anchor {
  x: number;
  y: number;
  clientX: number;
  clientY: number;
}

/** Lets a click or Enter on the picture toggle between the fitted size and 100 %. Escape returns to the fitted size. */
export function zoomPictures(): void {
  document.addEventListener("click", (event) => {
    const stage = stageOf(event.target);
    if (stage === null || event.button !== 0 || hasModifier(event)) return;
    if (!stage.classList.contains("zoomed") && !canZoom(stage)) return;
    event.preventDefault();
    if (stage.classList.contains("zoomed")) leave(stage);
    else void enter(stage, event);
  });
  document.addEventListener("keydown", (event) => {
    const stage = document.querySelector(".zoomed");
    if (event.key === "Escape" && stage !== null) leave(stage);
  });
  document.addEventListener("pointerover", ({ target }) => {
    const stage = stageOf(target);
    stage?.classList.toggle("zoomable", canZoom(stage));
  });
}

function stageOf(target: EventTarget | null): HTMLAnchorElement | null {
  return target instanceof Element ? target.closest<HTMLAnchorElement>("a.stage[href]") : null;
}

/** Whether the picture has more pixels than are shown. If not, a click follows the link. */
function canZoom(stage: HTMLAnchorElement): boolean {
  const picture = stage.querySelector("img");
  if (picture === null) return false;
  // A picture with several sources is smaller than its original.
  return picture.srcset !== "" || picture.src !== stage.href || shownScale(picture) < 0.99;
}

/** CSS pixels per pixel of the picture. `object-fit` centres the picture in its box. */
function shownScale({ clientWidth, clientHeight, naturalWidth, naturalHeight }: HTMLImageElement): number {
  return Math.min(clientWidth / naturalWidth, clientHeight / naturalHeight);
}

async function enter(stage: HTMLAnchorElement, event: MouseEvent): Promise<void> {
  const mine = ++latest;
  const picture = stage.querySelector("img");
  if (picture === null) return;
  const anchor = anchorOf(picture, stage, event);
  const figure = stage.closest("figure");
  figure?.setAttribute("aria-busy", "true");
  const full = new Image();
  full.src = stage.href;
  full.alt = picture.alt;
  const isDecoded = await full.decode().then(
    () => true,
    () => false,
  );
  figure?.removeAttribute("aria-busy");
  if (mine !== latest || !stage.isConnected) return;
  if (!isDecoded) {
    // The browser reports a missing picture best by navigating to it.
    location.assign(stage.href);
    return;
  }
  full.width = full.naturalWidth;
  full.height = full.naturalHeight;
  fitted.set(stage, picture);
  picture.replaceWith(full);
  stage.classList.add("zoomed");
  stage.focus({ preventScroll: true });
  const { left, top, width, height } = full.getBoundingClientRect();
  stage.scrollLeft += left + anchor.x * width - anchor.clientX;
  stage.scrollTop += top + anchor.y * height - anchor.clientY;
  announce("Full size. Press Escape to fit the picture to the page.");
}

/** The clicked point; for a click by keyboard the middle of what is shown. */
function anchorOf(
  picture: HTMLImageElement,
  stage: Element,
  { detail, clientX, clientY }: MouseEvent,
): Anchor {
  const box = stage.getBoundingClientRect();
  const point =
    detail === 0
      ? { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }
      : { clientX, clientY };
  const { left, top, width, height } = picture.getBoundingClientRect();
  const scale = shownScale(picture);
  const fraction = (distance: number, length: number) => Math.min(1, Math.max(0, 0.5 + distance / length));
  return {
    ...point,
    x: fraction(point.clientX - left - width / 2, picture.naturalWidth * scale),
    y: fraction(point.clientY - top - height / 2, picture.naturalHeight * scale),
  };
}

function leave(stage: Element): void {
  latest++;
  const picture = fitted.get(stage);
  if (picture !== undefined) stage.querySelector("img")?.replaceWith(picture);
  stage.classList.remove("zoomed");
  announce("Fitted to the page.");
}
