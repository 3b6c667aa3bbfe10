import { announce } from "../announce.ts";
import { element } from "../elements.ts";
import type { Choice } from "./choices.ts";

/** Longest side that the service renders, pixels. */
const MAX_SIDE = 8192;

/** What the reader chose. It is kept when the page is turned. */
const chosen = { key: "webp", quality: "high", width: null as number | null };

/** The file that the reader wants. */
export interface Wanted {
  choice: Choice;
  href: string;
  /** Pixels; `null`: unknown. */
  width: number | null;
  /** Whether this is the original, unchanged. */
  isUntouched: boolean;
}

/** The fields of the panel. */
export interface Fields {
  elements: readonly HTMLElement[];
  /** `null`: the width is wrong, and its field says so. */
  read(): Wanted | null;
}

/**
 * @param choices at least one
 * @param natural width of the picture, pixels; `NaN` if no choice has a width
 */
export function createFields(choices: readonly Choice[], natural: number, onChange: () => void): Fields {
  // Drawings and pages are drawn at any size; other pictures are never enlarged.
  const isScalable = choices.some(({ key }) => key === "original svg" || key === "original pdf");
  const most = isScalable ? Math.max(MAX_SIDE, natural) : natural;
  const choice = () => choices.find(({ key }) => key === chosen.key) ?? (choices[0] as Choice);
  const quality = ({ addresses }: Choice) =>
    addresses.has(chosen.quality) ? chosen.quality : ([...addresses.keys()][0] ?? "");

  const width = element("input");
  Object.assign(width, { id: "download-width", type: "number", min: "1", max: String(most), required: true });
  width.value = String(Math.min(chosen.width ?? natural, most));
  const label = element("label", "", "Width");
  label.htmlFor = width.id;
  const hint = element("small", "", `px, up to ${most}`);
  hint.id = "download-width-hint";
  width.setAttribute("aria-describedby", hint.id);
  const row = element("div", "width");
  row.append(label, width, hint);

  const formats = radios(
    "Format",
    "format",
    choices.map(({ key, label }) => [key, label]),
  );
  const named = choices.find(({ addresses }) => addresses.size > 1)?.addresses.keys() ?? [];
  const qualities = radios(
    "JPEG quality",
    "quality",
    [...named].map((name) => [name, name]),
  );

  function show(): void {
    const shown = choice();
    check(formats, shown.key);
    check(qualities, quality(shown));
    qualities.hidden = shown.addresses.size < 2;
    row.hidden = !shown.hasWidth;
  }

  formats.addEventListener("change", ({ target }) => {
    chosen.key = (target as HTMLInputElement).value;
    show();
    onChange();
  });
  qualities.addEventListener("change", ({ target }) => {
    chosen.quality = (target as HTMLInputElement).value;
    onChange();
  });
  width.addEventListener("input", () => {
    const { valid } = width.validity;
    hint.textContent = valid ? `px, up to ${most}` : `Choose 1 to ${most} px.`;
    hint.className = valid ? "" : "fault";
    if (valid) {
      width.removeAttribute("aria-invalid");
      // The full width, also on another page.
      chosen.width = width.valueAsNumber === natural ? null : width.valueAsNumber;
    } else {
      width.setAttribute("aria-invalid", "true");
      announce(hint.textContent);
    }
    onChange();
  });
  show();

  return {
    elements: [formats, qualities, row],
    read() {
      const wanted = choice();
      const href = wanted.addresses.get(quality(wanted)) ?? "";
      const isUntouched = wanted.isOriginal;
      if (!wanted.hasWidth)
        return { choice: wanted, href, width: isScalable ? null : natural || null, isUntouched };
      if (!width.validity.valid) return null;
      if (width.valueAsNumber === natural) return { choice: wanted, href, width: natural, isUntouched };
      const address = new URL(href);
      const asked = Math.min(width.valueAsNumber, MAX_SIDE);
      address.searchParams.set("resize", `${asked}x`);
      return { choice: wanted, href: address.href, width: asked, isUntouched: false };
    },
  };
}

/** Radio buttons that look like pills. */
function radios(title: string, name: string, options: readonly (readonly [value: string, text: string])[]) {
  const set = element("fieldset");
  const pills = element("div", "pills");
  for (const [value, text] of options) {
    const radio = element("input", "unseen");
    Object.assign(radio, { type: "radio", name: `download-${name}`, value });
    const label = element("label", "pill");
    label.append(radio, text);
    pills.append(label);
  }
  set.append(element("legend", "", title), pills);
  return set;
}

function check(set: HTMLElement, value: string): void {
  for (const radio of set.querySelectorAll("input")) radio.checked = radio.value === value;
}
