import { button, element } from "../elements.ts";

/** The original and a rendition over each other, with a divider that the reader moves. */
export interface Comparison {
  /** Loads the original, once. @returns whether there is one that the browser can show */
  load(): Promise<boolean>;
  /** @param rendition a decoded picture */
  show(rendition: HTMLImageElement, name: string): void;
  hide(): void;
}

/** From this width of the window the picture is beside the panel, as in the style sheet. */
const IS_WIDE = window.matchMedia("(min-width: 60rem)");

/** Pixels that the view keeps beside the divider. */
const EDGE = 48;

/**
 * @param stage the link with the picture of the page, which is hidden while the comparison is shown
 * @param panel shows the comparison in narrow windows, where the picture is far from the panel
 */
export function createComparison(stage: HTMLElement, panel: HTMLElement): Comparison {
  const original = new Image();
  original.alt = stage.querySelector("img")?.alt ?? "";
  original.className = "before";
  const pair = element("div", "pair");
  const label = element("span", "side after");
  const divider = element("input");
  divider.type = "range";
  divider.max = "100";
  divider.ariaLabel = "Divider between the original and the download";
  pair.append(original, divider);
  const view = element("div");
  view.role = "group";
  view.ariaLabel = "Comparison";
  view.append(pair);
  const whole = button("100 %", () => zoom(!view.classList.contains("whole")), "copy");
  const box = element("div", "comparison");
  box.append(view, element("span", "side", "Original"), label, whole);
  let loaded: Promise<boolean> | undefined;

  function move(): void {
    pair.style.setProperty("--at", `${divider.value}%`);
    divider.setAttribute("aria-valuetext", `${divider.value} % original`);
    // At 100 % the view is smaller than the picture: it follows the divider.
    const at = (divider.valueAsNumber / 100) * pair.clientWidth;
    const left = Math.min(view.scrollLeft, at - EDGE);
    view.scrollLeft = Math.max(left, at + EDGE - view.clientWidth);
  }

  function zoom(isWhole: boolean): void {
    view.classList.toggle("whole", isWhole);
    whole.setAttribute("aria-pressed", String(isWhole));
    // The arrow keys scroll the view when it has the focus.
    if (isWhole) view.tabIndex = 0;
    else view.removeAttribute("tabindex");
    view.scrollTop = (pair.clientHeight - view.clientHeight) / 2;
    view.scrollLeft = (divider.valueAsNumber / 100) * pair.clientWidth - view.clientWidth / 2;
  }

  function place(): void {
    if (IS_WIDE.matches) stage.after(box);
    else panel.prepend(box);
    stage.hidden = IS_WIDE.matches;
  }

  divider.addEventListener("input", move);
  move();
  return {
    async load() {
      loaded ??= decode(original, stage.getAttribute("href") ?? "");
      const isShown = await loaded;
      // The network may come back.
      if (!isShown) loaded = undefined;
      return isShown;
    },
    show(rendition, name) {
      const { naturalWidth, naturalHeight } = rendition;
      // A drawing may have no size of its own.
      pair.style.setProperty("--ratio", String(naturalWidth / naturalHeight));
      pair.style.setProperty("--natural", `${Math.max(original.naturalWidth, naturalWidth)}px`);
      label.textContent = name;
      rendition.className = "after";
      rendition.alt = "";
      pair.querySelector(".after")?.remove();
      original.after(rendition);
      if (box.isConnected) return;
      view.className = `${stage.className} compare`;
      view.classList.remove("zoomed", "zoomable");
      // Ends a zoom.
      if (stage.classList.contains("zoomed")) stage.click();
      IS_WIDE.addEventListener("change", place);
      place();
      zoom(false);
      // A picture that fits is at 100 % already.
      whole.hidden = pair.clientWidth >= Math.max(original.naturalWidth, naturalWidth);
    },
    hide() {
      IS_WIDE.removeEventListener("change", place);
      box.remove();
      stage.hidden = false;
    },
  };
}

/** @returns whether the browser can show the picture */
export function decode(picture: HTMLImageElement, address: string): Promise<boolean> {
  picture.src = address;
  return picture.decode().then(
    () => true,
    () => false,
  );
}
