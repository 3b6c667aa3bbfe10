import { expect, it } from "vitest";
import type { ServerConfig } from "../../config/server-config.ts";
import { settingsOf } from "../../config/settings.ts";
import { checkTimeOuts } from "./check-time-outs.ts";

const found = (config: ServerConfig) => checkTimeOuts(settingsOf({ data: "/data", ...config }));

it("finds the defaults well, with any size of upload", () => {
  const detail = "75 s between requests, 120 s of silence, 860 s for a request";
  expect(found({ trustProxy: 1 })).toEqual([{ check: "time-outs", status: "ok", detail }]);
  expect(found({ images: { maxUploadBytes: 2 ** 31 } })).toMatchObject([{ status: "ok" }]);
});

it.each<[ServerConfig, string]>([
  [{ trustProxy: 1, http: { keepAliveMs: 5000 } }, "http.keepAliveMs"],
  [{ http: { idleMs: 15_000 } }, "http.idleMs to more than images.uploadIdleMs"],
  [{ images: { uploadIdleMs: 200_000 } }, "http.idleMs to more than images.uploadIdleMs"],
  [{ http: { requestTimeoutMs: 30_000 } }, "Raise http.requestTimeoutMs"],
])("warns of %j", (config, remedy) => {
  expect(found(config)).toEqual([
    {
      check: "time-outs",
      status: "warning",
      detail: expect.any(String),
      remedy: expect.stringContaining(remedy),
    },
  ]);
});

it("does not mind short idle connections where no proxy is in front", () => {
  expect(found({ http: { keepAliveMs: 5000 } })).toMatchObject([{ status: "ok" }]);
});
