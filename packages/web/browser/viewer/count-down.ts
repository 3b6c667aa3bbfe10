import { t } from "../../src/texts.ts";
import { countdownText } from "../../src/time-left.ts";
import { askServer, serverNow } from "../saved/server-clock.ts";
import { announce, element } from "./elements.ts";

const TICK_MS = 1000;
/** The first wait between two questions. Each is twice as long as the one before. */
const ASK_MS = 30_000;

/** Counts down the time until the image expires, then asks the service, and announces the expiry. */
export function countDown(): void {
  const left = document.querySelector<HTMLElement>(".left");
  const until = Date.parse(left?.dataset.until ?? "");
  if (left === null || Number.isNaN(until)) return;
  let [askMs, askAgainMs] = [ASK_MS, 0];
  const tick = () => {
    const leftMs = until - serverNow();
    const text = countdownText(leftMs);
    if (left.textContent !== text) left.textContent = text;
    if (leftMs > 0 || performance.now() < askAgainMs) return;
    askAgainMs = performance.now() + askMs;
    askMs *= 2;
    // Only the service knows: the uploader may have extended the image.
    void askServer().then((status) => {
      if (status !== 410 && status !== 404) return;
      window.clearInterval(timer);
      sayExpired();
    });
  };
  const timer = window.setInterval(tick, TICK_MS);
  tick();
}

/** Removes the controls, whose links are dead, and announces the expiry. The loaded picture stays. */
function sayExpired(): void {
  for (const dead of document.querySelectorAll(".toolbar, .turner, figcaption")) dead.remove();
  document.querySelector(".stage")?.removeAttribute("href");
  const text = t("viewing.expired");
  document.querySelector("main")?.prepend(element("p", "banner alarm", text));
  announce(text);
}
