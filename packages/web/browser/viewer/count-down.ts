import { countdownText } from "../../src/time-left.ts";
import { announce } from "./announce.ts";

const TICK_MS = 1000;

let timer: number | undefined;

/** Counts the time that is left down to the end of the image, and says when it has come. */
export function countDown(): void {
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
