import type { Renderer } from "@outrigger/core";
import { hasLatinFont } from "@outrigger/imaging";
import type { Logger } from "pino";

/** Says it once where text in SVG pictures cannot be drawn. Never rejects. */
export async function warnWithoutFonts(renderer: Renderer, logger: Logger): Promise<void> {
  try {
    if (await hasLatinFont(renderer)) return;
    logger.warn("There are no fonts: text in SVG pictures becomes boxes, or vanishes. See outrigger doctor.");
  } catch (err) {
    // Closed meanwhile, or at work for others: nothing that anybody waits for.
    logger.debug({ err }, "fonts not looked at");
  }
}
