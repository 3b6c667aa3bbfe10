import type { ServerSettings } from "../../config/settings.ts";
import { type Finding, ok, warning } from "./finding.ts";

const CHECK = "sizes";

/** Whether every client can have any size rendered, with no cache in front. */
export function checkSizes({
  images = {},
  trustProxy,
}: Pick<ServerSettings, "images" | "trustProxy">): Finding {
  const { sizes = "any" } = images;
  if (sizes === "signed") return ok(CHECK, "presets and signed addresses alone");
  if (sizes !== "any") return ok(CHECK, "the next larger step");
  if (trustProxy !== false) return ok(CHECK, "any; outrigger doctor <url> looks for a cache in front");
  return warning(
    CHECK,
    "any size is rendered for every client, and no trusted proxy or cache is in front",
    'Set images.sizes to "steps" or "signed", or put a cache in front and set trustProxy',
  );
}
