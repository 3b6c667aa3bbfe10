import { setTexts, Texts } from "../src/texts.ts";

/** Reads the texts that the server wrote into the page. Each script does this first. */
export function readTexts(): void {
  const { locale, messages } = JSON.parse(document.getElementById("texts")?.textContent ?? "{}");
  setTexts(new Texts(document.documentElement.lang, locale, messages));
}
