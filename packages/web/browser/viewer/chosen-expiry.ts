import { localText } from "./local-time.ts";

/** Says under the fields of the edit page when an image will expire, in the reader's time zone. */
export function showChosenExpiry(): void {
  const duration = document.querySelector<HTMLSelectElement>("#expires-in");
  const date = document.querySelector<HTMLInputElement>("#expires-at");
  const hint = document.querySelector("#expires-hint");
  if (duration === null || date === null || hint === null) return;
  const chosen = document.createElement("output");
  chosen.htmlFor.add(duration.id, date.id);
  hint.append(" ", chosen);
  const show = () => {
    // Without a zone, and meant in UTC.
    const ms = duration.value === "" ? Date.parse(`${date.value}Z`) : Date.now() + Number(duration.value);
    chosen.textContent = Number.isNaN(ms) ? "" : `It will expire on ${localText(ms)}.`;
  };
  duration.addEventListener("change", show);
  date.addEventListener("input", show);
  show();
}
