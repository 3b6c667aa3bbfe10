import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { setTexts, Texts } from "../texts.ts";
import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };
import { said } from "./said.ts";

const core = new URL("../../../core/src/", import.meta.url);
const source = readdirSync(core, { recursive: true, encoding: "utf8" })
  .filter((path) => /(?<!\.test)\.ts$/.test(path))
  .map((path) => readFileSync(new URL(path, core), "utf8"))
  .join("\n");

it("each sentence of the service that pages translate is still one of its sentences", () => {
  const sentences = Object.entries(en).filter(([key]) => /^said\..*(?<!_one)$/.test(key));
  const gone = sentences.filter(([, text]) => {
    const [longest = ""] = text.split(/\{\{\w+\}\}|\d|: this |\.$|\. /).sort((a, b) => b.length - a.length);
    return !source.includes(longest.trim());
  });
  expect(gone).toEqual([]);
  expect(sentences.length).toBeGreaterThan(40);
});

it("a text of several sentences is translated sentence by sentence, and the unknown ones stay", () => {
  const before = setTexts(new Texts("de", "de", de));
  try {
    expect(said("Name updated. Something of the host. No changes to save.")).toBe(
      `${de["said.nameUpdated"]} Something of the host. ${de["said.unchanged"]}`,
    );
    expect(said("Too many incorrect PINs. Try again in 1 second.")).toBe(
      de["said.pinsWrong_one"].replace("{{count}}", "1"),
    );
  } finally {
    setTexts(before);
  }
});
