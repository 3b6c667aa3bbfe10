import { dateText, setTexts, Texts } from "../src/texts.ts";

/** Reads the texts that the server wrote into the page. Each script does this first. */
export function readTexts(): void {
  const { locale, messages } = JSON.parse(document.getElementById("texts")?.textContent ?? "{}");
  setTexts(new Texts(document.documentElement.lang, locale, messages));
}

/** Shows every date in the reader's time zone; its title has UTC. */
export function showLocalTimes(): void {
  for (const time of document.querySelectorAll("time")) {
    const ms = Date.parse(time.dateTime);
    if (Number.isNaN(ms)) continue;
    time.title = time.textContent ?? "";
    time.textContent = dateText(ms);
  }
}
