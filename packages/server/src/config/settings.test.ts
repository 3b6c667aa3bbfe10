import { expect, it } from "vitest";
import { settingsOf } from "./settings.ts";

it("settingsOf derives the request timeout from the largest upload at 32 KiB/s", () => {
  expect(settingsOf({}).http.requestTimeoutMs).toBe(860_000);
  expect(settingsOf({ images: { maxUploadBytes: 32 * 1024 } }).http.requestTimeoutMs).toBe(61_000);
  expect(settingsOf({ images: { maxUploadBytes: "32KiB" } }).http.requestTimeoutMs).toBe(61_000);
});

it("settingsOf rejects sendfile with originals outside a directory", () => {
  const images = { sendfile: { header: "X-Sendfile" } } as const;
  expect(settingsOf({ images, data: "/srv/data" }).images).toMatchObject(images);
  const storage = { records: "file:/srv/data", originals: "s3://bucket", renditions: "s3://bucket" };
  expect(() => settingsOf({ images, storage })).toThrow(
    "images.sendfile: needs originals in a directory (file:…)",
  );
});

it("settingsOf rejects a drain delay that is not less than shutdownMs", () => {
  expect(() => settingsOf({ shutdownMs: 1000, drainDelayMs: 1000 })).toThrow(
    "drainDelayMs: must be less than shutdownMs (1000)",
  );
});
