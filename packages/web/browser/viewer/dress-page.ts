import { countdownText } from "../../src/time-left.ts";
import { announce } from "./announce.ts";
import { addCopyButtons } from "./copy-buttons.ts";
import { localText, showLocalTimes } from "./local-time.ts";

/** Adds to what the server wrote; again for a page that was turned to. */
export function dressPage(): void {
  showLocalTimes();
  countDown();
  addCopyButtons();
  showChosenExpiry();
}

/** Says under the fields of the edit page when an image will expire, in the reader's time zone. */
function showChosenExpiry(): void {
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

const TICK_MS = 1000;

let timer: number | undefined;

/** Counts the time that is left down to the end of the image, and says when it has come. */
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
  banner.textContent = "This image has just expired. Its addresses lead nowhere any more.";
  document.querySelector("main h1")?.after(banner);
  announce(banner.textContent);
}
