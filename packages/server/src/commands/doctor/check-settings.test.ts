import { expect, it } from "vitest";
import type { ServerConfig } from "../../config/server-config.ts";
import { settingsOf } from "../../config/settings.ts";
import { checkAddresses, checkSizes, checkTimeOuts } from "./check-settings.ts";

const foundTimeOuts = (config: ServerConfig) => checkTimeOuts(settingsOf({ data: "/data", ...config }));
const foundSizes = (config: ServerConfig) => checkSizes(settingsOf({ data: "/data", ...config }));

it("checkTimeOuts reports ok for the defaults with any upload size", () => {
  const detail = "75 s between requests, 120 s without traffic, 860 s for a request";
  expect(foundTimeOuts({ trustProxy: 1 })).toEqual([{ check: "time-outs", status: "ok", detail }]);
  expect(foundTimeOuts({ images: { maxUploadBytes: 2 ** 31 } })).toMatchObject([{ status: "ok" }]);
});

it.each<[ServerConfig, string]>([
  [{ trustProxy: 1, http: { keepAliveMs: 5000 } }, "http.keepAliveMs"],
  [{ http: { idleMs: 15_000 } }, "http.idleMs above images.uploadIdleMs"],
  [{ images: { uploadIdleMs: 200_000 } }, "http.idleMs above images.uploadIdleMs"],
  [{ http: { requestTimeoutMs: 30_000 } }, "Raise http.requestTimeoutMs"],
])("checkTimeOuts warns about %j", (config, remedy) => {
  expect(foundTimeOuts(config)).toEqual([
    {
      check: "time-outs",
      status: "warning",
      detail: expect.any(String),
      remedy: expect.stringContaining(remedy),
    },
  ]);
});

it("checkTimeOuts accepts a short keepAliveMs without a proxy in front", () => {
  expect(foundTimeOuts({ http: { keepAliveMs: 5000 } })).toMatchObject([{ status: "ok" }]);
});

it.each<ServerConfig>([{}, { images: { sizes: "any" } }])(
  "checkSizes warns about sizes: any without a proxy for %j",
  (config) => {
    expect(foundSizes(config)).toEqual({
      check: "sizes",
      status: "warning",
      detail: "any client can request any size, and no trusted proxy or cache is in front",
      remedy: expect.stringContaining('images.sizes to "steps" or "signed"'),
    });
  },
);

it.each<[ServerConfig, string]>([
  [{ trustProxy: 1 }, "any; outrigger doctor <url> looks for a cache in front"],
  [{ images: { sizes: "steps" } }, "the next larger step"],
  [{ images: { sizes: { steps: [400] } } }, "the next larger step"],
  [{ images: { sizes: "signed" } }, "only presets and signed addresses"],
])("checkSizes reports ok for %j", (config, detail) => {
  expect(foundSizes(config)).toEqual({ check: "sizes", status: "ok", detail });
});

const foundAddresses = (config: ServerConfig) => checkAddresses(settingsOf({ data: "/data", ...config }));

it.each<NonNullable<ServerConfig["trustProxy"]>>([1, true, "loopback", ["10.0.0.0/8"]])(
  "checkAddresses warns about trustProxy: %j without publicUrl and allowedHosts",
  (trustProxy) => {
    expect(foundAddresses({ trustProxy })).toEqual({
      check: "addresses",
      status: "warning",
      detail: expect.stringContaining("X-Forwarded-Host"),
      remedy: "Set publicUrl, or at least images.allowedHosts",
    });
  },
);

it.each<[ServerConfig, string]>([
  [{}, "the Host of each request; no proxy is trusted"],
  [{ trustProxy: 0 }, "the Host of each request; no proxy is trusted"],
  [{ trustProxy: 1, publicUrl: "https://img.example" }, "begin with https://img.example"],
  [{ trustProxy: 1, images: { allowedHosts: ["img.example"] } }, "only allowed hosts"],
])("checkAddresses reports ok for %j", (config, detail) => {
  expect(foundAddresses(config)).toEqual({ check: "addresses", status: "ok", detail });
});
