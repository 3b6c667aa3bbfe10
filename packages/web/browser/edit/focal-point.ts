import type { Size } from "../../src/renditions.ts";
import { t } from "../../src/texts.ts";

/** A point in percent of width and height, from the top left. */
type Percent = readonly [x: number, y: number];

const CENTRE: Percent = [50, 50];
/** Percent by which an arrow key moves the point. */
const STEP = 1;
const LARGE_STEP = 10;
const MOVES: ReadonlyMap<string, Percent> = new Map([
  ["ArrowLeft", [-1, 0]],
  ["ArrowRight", [1, 0]],
  ["ArrowUp", [0, -1]],
  ["ArrowDown", [0, 1]],
]);
/** The cuts that the page shows, as its server draws them without this script. */
const CUTS = [
  ["editing.square", "square", { width: 1, height: 1 }],
  ["editing.wide", "wide", { width: 16, height: 9 }],
] as const;

/** Lets the reader choose the focal point on the picture, by pointer and arrow keys, and shows the cuts that result. */
export async function dressFocalPoint(): Promise<void> {
  const picture = document.querySelector<HTMLImageElement>(".focal-picture img");
  const fieldX = document.querySelector<HTMLInputElement>("#focus-x");
  const fieldY = document.querySelector<HTMLInputElement>("#focus-y");
  if (!picture || !fieldX || !fieldY) return;
  try {
    await picture.decode();
  } catch {
    // Without the picture, the fields remain.
    return;
  }
  new FocalMarker(picture, fieldX, fieldY);
}

/** The mark on the picture, in step with the two fields. */
class FocalMarker {
  readonly #picture: HTMLImageElement;
  readonly #fieldX: HTMLInputElement;
  readonly #fieldY: HTMLInputElement;
  /** A slider of two dimensions, in the centre: readers with screen readers can use the two fields instead. */
  readonly #marker = make("div", {
    className: "focal-marker",
    tabIndex: 0,
    role: "slider",
    ariaRoleDescription: t("editing.slider"),
    ariaLabel: t("editing.focal"),
    ariaValueMin: "0",
    ariaValueMax: "100",
    ariaValueNow: "50",
    title: t("editing.sliderHint"),
  });
  readonly #cuts: readonly { show(point: Percent): void }[];
  /** A slider announces its own keys; what the pointer and the button did is announced here. */
  readonly #said = make("output", { className: "unseen" });
  readonly #centre = make("button", {
    type: "button",
    className: "copy",
    textContent: t("editing.useCentre"),
  });

  constructor(picture: HTMLImageElement, fieldX: HTMLInputElement, fieldY: HTMLInputElement) {
    this.#picture = picture;
    this.#fieldX = fieldX;
    this.#fieldY = fieldY;
    const area = picture.parentElement as HTMLElement; // The script's own selector.
    const cuts = CUTS.map(([name, shape, box]) => createCut(picture, { name: t(name), shape, box }));
    this.#cuts = cuts;
    const row = make("div", { className: "cuts" });
    row.append(...cuts.map(({ figure }) => figure));
    area.append(this.#marker);
    area.after(row);
    document.getElementById("focal-hint")?.append(` ${t("editing.clickHint")}`);
    fieldX.closest(".focal-fields")?.append(this.#centre, this.#said);
    for (const field of [fieldX, fieldY]) field.addEventListener("input", () => this.#show());
    this.#centre.addEventListener("click", () => this.#useCentre());
    this.#marker.addEventListener("keydown", (event) => this.#press(event));
    this.#followPointer(area);
    this.#show();
  }

  #isEmpty(): boolean {
    return this.#fieldX.value === "" && this.#fieldY.value === "";
  }

  /** The point in the fields; `null` while one of them is wrong. */
  #read(): Percent | null {
    const [x, y] = [this.#fieldX, this.#fieldY];
    // The value of a field with other text than a number is empty too.
    if (!x.validity.valid || !y.validity.valid) return null;
    if (this.#isEmpty()) return CENTRE;
    return x.value === "" || y.value === "" ? null : [x.valueAsNumber, y.valueAsNumber];
  }

  #show(): void {
    const point = this.#read();
    this.#centre.disabled = this.#isEmpty();
    if (point === null) return;
    const [x, y] = point;
    this.#marker.style.left = `${x}%`;
    this.#marker.style.top = `${y}%`;
    this.#marker.setAttribute("aria-valuenow", String(x));
    this.#marker.setAttribute("aria-valuetext", placeText(point));
    for (const { show } of this.#cuts) show(point);
  }

  #move([x, y]: Percent): void {
    const rounded = (percent: number) => String(Number(clamp(percent, 0, 100).toFixed(1)));
    this.#fieldX.value = rounded(x);
    this.#fieldY.value = rounded(y);
    this.#show();
  }

  #moveToPointer({ clientX, clientY }: MouseEvent): void {
    const { left, top, width, height } = this.#picture.getBoundingClientRect();
    this.#move([((clientX - left) / width) * 100, ((clientY - top) / height) * 100]);
  }

  #say(): void {
    const point = this.#read();
    if (point === null) return;
    const place = point === CENTRE ? t("editing.centre") : placeText(point);
    this.#said.textContent = t("editing.said", { place });
  }

  #useCentre(): void {
    this.#fieldX.value = "";
    this.#fieldY.value = "";
    this.#show();
    this.#say();
    // The button is disabled now.
    this.#marker.focus();
  }

  #followPointer(area: HTMLElement): void {
    area.addEventListener("pointerdown", (event) => {
      // A finger on the picture scrolls the page; a tap is a click.
      const isDrag = event.target === this.#marker || event.pointerType !== "touch";
      if (!isDrag || event.button !== 0) return;
      event.preventDefault();
      area.setPointerCapture(event.pointerId);
      this.#marker.focus({ preventScroll: true });
      if (event.target !== this.#marker) this.#moveToPointer(event);
    });
    area.addEventListener("pointermove", (event) => {
      if (area.hasPointerCapture(event.pointerId)) this.#moveToPointer(event);
    });
    area.addEventListener("lostpointercapture", () => this.#say());
    area.addEventListener("click", (event) => {
      // A click of assistive technology has no place.
      if (event.detail === 0) return;
      this.#moveToPointer(event);
      this.#say();
    });
  }

  #press(event: KeyboardEvent): void {
    const direction = MOVES.get(event.key);
    const [x, y] = this.#read() ?? CENTRE;
    if (direction === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const step = event.shiftKey ? LARGE_STEP : STEP;
    this.#move([x + step * direction[0], y + step * direction[1]]);
  }
}

/** A cut of the picture. */
function createCut(
  picture: HTMLImageElement,
  { name, shape, box }: { name: string; shape: string; box: Size },
): { figure: HTMLElement; show(point: Percent): void } {
  const cut = make("img", { className: `cut ${shape}`, src: picture.src, alt: "" });
  const figure = make("figure", {});
  figure.append(cut, make("figcaption", { textContent: name }));
  const natural = { width: picture.naturalWidth, height: picture.naturalHeight };
  return {
    figure,
    show([x, y]) {
      const [left, top] = cutPosition(natural, box, [x / 100, y / 100]);
      cut.style.objectPosition = `${left * 100}% ${top * 100}%`;
    },
  };
}

/**
 * The `object-position` that shows what the service cuts with `fit=cover`, as shares. CSS aligns a point of the picture with the
 * same point of the box; the service moves the point to the centre of the box as far as the edges allow.
 *
 * @param point Shares of width and height, from the top left.
 */
export function cutPosition(picture: Size, box: Size, [x, y]: readonly [number, number]): [number, number] {
  const scale = Math.max(box.width / picture.width, box.height / picture.height);
  const along = (share: number, shown: number) =>
    shown >= 1 ? 0.5 : clamp(share - shown / 2, 0, 1 - shown) / (1 - shown);
  return [along(x, box.width / (picture.width * scale)), along(y, box.height / (picture.height * scale))];
}

/** A new element. Not that of the viewer: a file that two pages share would be a request more for both. */
function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
): HTMLElementTagNameMap[Tag] {
  return Object.assign(document.createElement(tag), properties);
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}

function placeText([x, y]: Percent): string {
  return t("editing.place", { x, y });
}
