import type { Entry } from "../assets.ts";
import { type Html, html, trusted } from "../html.ts";
import { texts } from "../texts.ts";

/** How the keys start that the script of a page uses. */
export const SCRIPT_TEXTS: Readonly<Record<Entry, readonly string[]>> = {
  upload: ["uploads.", "refused.", "left.", "lost.", "duration.", "share."],
  viewer: ["viewing.", "share."],
  edit: ["editing."],
};

/** The texts of a page's script, as a data block, which no browser executes. `browser/texts.ts` reads it. */
export function scriptTexts(entry: Entry): Html {
  const { locale, messages } = texts();
  const used = Object.entries(messages).filter(([key]) =>
    SCRIPT_TEXTS[entry].some((start) => key.startsWith(start)),
  );
  const data = JSON.stringify({ locale, messages: Object.fromEntries(used) });
  return html`<script type="application/json" id="texts">${trusted(data.replaceAll("<", "\\u003c"))}</script>`;
}
