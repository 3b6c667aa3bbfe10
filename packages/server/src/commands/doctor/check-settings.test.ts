import { expect, it } from "vitest";
import type { ServerConfig } from "../../config/server-config.ts";
import { settingsOf } from "../../config/settings.ts";
import { checkSizes, checkTimeOuts } from "./check-settings.ts";

const foundTimeOuts = (config: ServerConfig) => checkTimeOuts(settingsOf({ data: "/data", ...config }));
const foundSizes = (config: ServerConfig) => checkSizes(settingsOf({ data: "/data", ...config }));

it("finds the defaults well, with any size of upload", () => {
  const detail = "75 s between requests, 120 s of silence, 860 s for a request";
  expect(foundTimeOuts({ trustProxy: 1 })).toEqual([{ check: "time-outs", status: "ok", detail }]);
  expect(foundTimeOuts({ images: { maxUploadBytes: 2 ** 31 } })).toMatchObject([{ status: "ok" }]);
});

it.each<[ServerConfig, string]>([
  [{ trustProxy: 1, http: { keepAliveMs: 5000 } }, "http.keepAliveMs"],
  [{ http: { idleMs: 15_000 } }, "http.idleMs to more than images.uploadIdleMs"],
  [{ images: { uploadIdleMs: 200_000 } }, "http.idleMs to more than images.uploadIdleMs"],
  [{ http: { requestTimeoutMs: 30_000 } }, "Raise http.requestTimeoutMs"],
])("warns of %j", (config, remedy) => {
  expect(foundTimeOuts(config)).toEqual([
    {
      check: "time-outs",
      status: "warning",
      detail: expect.any(String),
      remedy: expect.stringContaining(remedy),
    },
  ]);
});

it("does not mind short idle connections where no proxy is in front", () => {
  expect(foundTimeOuts({ http: { keepAliveMs: 5000 } })).toMatchObject([{ status: "ok" }]);
});

it.each<ServerConfig>([{}, { images: { sizes: "any" } }])(
  "warns of any size without a proxy, with %j",
  (config) => {
    expect(foundSizes(config)).toEqual({
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
  expect(foundSizes(config)).toEqual({ check: "sizes", status: "ok", detail });
});
