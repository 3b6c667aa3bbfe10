import { dateText, t, texts } from "../../src/texts.ts";
import { serverNow } from "../saved/server-clock.ts";

const MINUTE_MS = 60_000;

/** Makes the edit page use the reader's time zone, and shows the chosen expiry below its fields. */
export function dressExpiry(): void {
  const form = document.querySelector<HTMLFormElement>("form:has(#expires-at)");
  const duration = form?.querySelector<HTMLSelectElement>("#expires-in");
  const date = form?.querySelector<HTMLInputElement>("#expires-at");
  const offset = form?.querySelector<HTMLInputElement>('[name="utcOffset"]');
  const zone = form?.querySelector("#zone");
  const hint = form?.querySelector("#expires-hint");
  if (!form || !duration || !date || !offset || !zone || !hint) return;

  // With an offset, a script filled in the form before: the date is local.
  if (offset.value === "") date.value = localValue(date.value);
  date.min = localValue(date.min);
  date.max = localValue(date.max);

  const chosen = document.createElement("output");
  chosen.htmlFor.add(duration.id, date.id);
  hint.append(" ", chosen);
  const zones = new Intl.DateTimeFormat(texts().locale, { timeZoneName: "short" });
  const show = () => {
    const ms = duration.value === "" ? new Date(date.value).getTime() : serverNow() + Number(duration.value);
    const at = Number.isNaN(ms) ? serverNow() : ms;
    // Daylight saving time: the offset depends on the date.
    offset.value = offsetOf(at);
    zone.textContent = zones.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
    chosen.textContent = Number.isNaN(ms) ? "" : t("editing.newExpiry", { date: dateText(ms) });
  };
  const choose = (value: string) => {
    const radio = form.querySelector<HTMLInputElement>(`[name="expiry"][value="${value}"]`);
    if (radio !== null) radio.checked = true;
    if (value !== "in") duration.value = "";
    if (value !== "on") date.value = "";
    show();
  };
  for (const radio of form.querySelectorAll<HTMLInputElement>('[name="expiry"]')) {
    radio.addEventListener("change", () => choose(radio.value));
  }
  duration.addEventListener("change", () => choose(duration.value === "" ? "keep" : "in"));
  date.addEventListener("input", () => choose("on"));
  show();
}

/** A `datetime-local` value in UTC, in the reader's time zone. */
function localValue(utc: string): string {
  const ms = Date.parse(`${utc}Z`);
  if (Number.isNaN(ms)) return "";
  return new Date(ms - new Date(ms).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

/** `+09:00` */
function offsetOf(ms: number): string {
  const minutes = -new Date(ms).getTimezoneOffset();
  const two = (amount: number) => String(amount).padStart(2, "0");
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
