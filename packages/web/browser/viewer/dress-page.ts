import { countdownText } from "../../src/time-left.ts";
import { announce } from "./announce.ts";
import { addCopyButtons } from "./copy-buttons.ts";
import { localText, showLocalTimes } from "./local-time.ts";

/** Adds the scripted parts to the server's page, also after a page turn. */
export function dressPage(): void {
  showLocalTimes();
  countDown();
  addCopyButtons();
  showChosenExpiry();
}

/** Shows the chosen expiry below the fields of the edit page, in the reader's time zone. */
function showChosenExpiry(): void {
  const duration = document.querySelector<HTMLSelectElement>("#expires-in");
  const date = document.querySelector<HTMLInputElement>("#expires-at");
  const hint = document.querySelector("#expires-hint");
  if (duration === null || date === null || hint === null) return;
  const chosen = document.createElement("output");
  chosen.htmlFor.add(duration.id, date.id);
  hint.append(" ", chosen);
  const show = () => {
    // The field has no time zone; its value is UTC.
    const ms = duration.value === "" ? Date.parse(`${date.value}Z`) : Date.now() + Number(duration.value);
    chosen.textContent = Number.isNaN(ms) ? "" : `New expiry: ${localText(ms)}.`;
  };
  duration.addEventListener("change", show);
  date.addEventListener("input", show);
  show();
}

const TICK_MS = 1000;

let timer: number | undefined;

/** Counts down the time until the image expires, then announces the expiry. */
function countDown(): void {
  window.clearInterval(timer);
  const left = document.querySelector<HTMLElement>(".left");
  const until = Date.parse(left?.dataset.until ?? "");
  if (left === null || Number.isNaN(until)) return;
  const tick = () => {
    const leftMs = until - Date.now();
    const text = countdownText(leftMs);
    if (left.textContent !== text) left.textContent = text;
    if (leftMs > 0) return;
    window.clearInterval(timer);
    sayExpired();
  };
  timer = window.setInterval(tick, TICK_MS);
  tick();
}

function sayExpired(): void {
  const banner = document.createElement("p");
  banner.className = "banner alarm";
  banner.textContent = "This image has expired. Its links no longer work.";
  document.querySelector("main h1")?.after(banner);
  announce(banner.textContent);
}
