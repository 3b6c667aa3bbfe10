import { showChosenExpiry } from "./chosen-expiry.ts";
import { addCopyButtons } from "./copy-buttons.ts";
import { countDown } from "./count-down.ts";
import { showLocalTimes } from "./local-time.ts";

/** Adds to what the server wrote; again for a page that was turned to. */
export function dressPage(): void {
  showLocalTimes();
  countDown();
  addCopyButtons();
  showChosenExpiry();
}
