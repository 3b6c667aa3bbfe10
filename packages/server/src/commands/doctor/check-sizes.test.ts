import { expect, it } from "vitest";
import type { ServerConfig } from "../../config/server-config.ts";
import { settingsOf } from "../../config/settings.ts";
import { checkSizes } from "./check-sizes.ts";

const found = (config: ServerConfig) => checkSizes(settingsOf({ data: "/data", ...config }));

it.each<ServerConfig>([{}, { images: { sizes: "any" } }])(
  "warns of any size without a proxy, with %j",
  (config) => {
    expect(found(config)).toEqual({
      check: "sizes",
      status: "warning",
      detail: "any size is rendered for every client, and no trusted proxy or cache is in front",
      remedy: expect.stringContaining('images.sizes to "steps" or "signed"'),
    });
  },
);

it.each<[ServerConfig, string]>([
  [{ trustProxy: 1 }, "any; outrigger doctor <url> looks for a cache in front"],
  [{ images: { sizes: "steps" } }, "the next larger step"],
  [{ images: { sizes: { steps: [400] } } }, "the next larger step"],
  [{ images: { sizes: "signed" } }, "presets and signed addresses alone"],
])("finds %j well", (config, detail) => {
  expect(found(config)).toEqual({ check: "sizes", status: "ok", detail });
});
