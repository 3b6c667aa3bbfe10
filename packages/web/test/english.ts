import en from "../src/messages/en.json" with { type: "json" };
import { setTexts, Texts } from "../src/texts.ts";

// As on a page of a client that names no language.
setTexts(new Texts("en", "en-GB", en));
