import { dateText } from "../../src/texts.ts";

/** Shows every date in the reader's time zone; its title has UTC. */
export function showLocalTimes(): void {
  for (const time of document.querySelectorAll("time")) {
    const ms = Date.parse(time.dateTime);
    if (Number.isNaN(ms)) continue;
    time.title = time.textContent ?? "";
    time.textContent = dateText(ms);
  }
}
