import type { EditView } from "@outrigger/core/images";
import { type HtmlValue, html } from "../html.ts";
import { withDates } from "../phrases.ts";

type Faulty = keyof NonNullable<EditView["faults"]>;

/** The fields in the order of the page. */
const ORDER: readonly Faulty[] = [
  ...(["name", "description", "expiresIn", "expiresAt", "focusX", "focusY", "confirm"] as const),
];

/** Names the texts that describe a field. The first wrong field gets the focus. */
export function faultAttributes({ faults = {} }: EditView, name: Faulty, described = ""): HtmlValue {
  if (faults[name] === undefined) return described !== "" && html` aria-describedby="${described}"`;
  const isFirst = ORDER.find((each) => faults[each] !== undefined) === name;
  return html` aria-invalid="true" aria-describedby="${`${name}-fault ${described}`.trim()}"${isFirst && html` autofocus`}`;
}

/** What is wrong with a field. */
export function faultLine({ faults = {} }: EditView, name: Faulty): HtmlValue {
  const fault = faults[name];
  return fault !== undefined && html`<p class="fault" id="${name}-fault">${withDates(fault)}</p>\n`;
}
