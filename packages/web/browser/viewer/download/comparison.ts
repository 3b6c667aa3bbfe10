import { element } from "../elements.ts";

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

/**
 * @param stage the link with the picture of the page, which is hidden while the comparison is shown
 * @param panel shows the comparison in narrow windows, where the picture is far from the panel
 */
export function createComparison(stage: HTMLElement, panel: HTMLElement): Comparison {
  const original = new Image();
  original.alt = stage.querySelector("img")?.alt ?? "";
  const pair = element("div", "pair");
  const label = element("span", "side after");
  const divider = element("input");
  divider.type = "range";
  divider.max = "100";
  divider.ariaLabel = "Divider between the original and the download";
  const box = element("div", "compare");
  box.append(pair);
  let loaded: Promise<boolean> | undefined;

  function move(): void {
    pair.style.setProperty("--at", `${divider.value}%`);
    divider.setAttribute("aria-valuetext", `${divider.value} % original`);
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
      box.className = `${stage.className} compare`;
      box.classList.remove("zoomed", "zoomable");
      label.textContent = name;
      original.className = "before";
      rendition.className = "after";
      rendition.alt = "";
      pair.replaceChildren(original, rendition, element("span", "side", "Original"), label, divider);
      if (box.isConnected) return;
      // Ends a zoom.
      if (stage.classList.contains("zoomed")) stage.click();
      IS_WIDE.addEventListener("change", place);
      place();
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
