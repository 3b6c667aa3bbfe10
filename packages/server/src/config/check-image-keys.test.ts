import { expect, it } from "vitest";
import { problemsOf } from "../../test/config-problems.ts";

it.each([
  [{ images: [] }, expect.stringMatching(/^images: must be an object of options \(allowedHosts, /)],
  [{ images: { maxUploadBytes: 0 } }, "images.maxUploadBytes: must be a whole number from 1 to 2147483648"],
  [{ images: { uploadIdleMs: 99 } }, "images.uploadIdleMs: must be a whole number from 100"],
  [
    { images: { asyncAfterMs: 60_001 } },
    "images.asyncAfterMs: must be false or a whole number from 0 to 60000",
  ],
  [
    { images: { asyncAfterMs: true } },
    "images.asyncAfterMs: must be false or a whole number from 0 to 60000",
  ],
  [{ images: { processUploads: 1 } }, "images.processUploads: must be true or false"],
  [
    { images: { importUrls: "yes" } },
    "images.importUrls: must be true, false, or an object of options (ports, internalHosts, timeoutMs)",
  ],
  [
    { images: { importUrls: { ports: [80, 70_000] } } },
    "images.importUrls.ports: must be a list of at least one port, each a whole number from 1 to 65535",
  ],
  [
    { images: { importUrls: { internalHosts: ["http://cms.intranet/"] } } },
    "images.importUrls.internalHosts: must be a list of hosts, such as cms.example or cms.example:8080",
  ],
  [
    { images: { importUrls: { timeoutMs: 999 } } },
    "images.importUrls.timeoutMs: must be a whole number from 1000 to 300000",
  ],
  [
    { images: { importUrls: { hosts: ["a"] } } },
    "images.importUrls: must be true, false, or an object of options (ports, internalHosts, timeoutMs)",
  ],
  [
    { images: { sendfile: { header: "X-Accel-Redirect" } } },
    "images.sendfile.prefix: is required for X-Accel-Redirect: the path of nginx's internal location",
  ],
  [
    { images: { sendfile: { header: "X-Sendfile", prefix: "/files/" } } },
    "images.sendfile.prefix: is only for X-Accel-Redirect: X-Sendfile names the whole path of a file",
  ],
  [{ images: { keepMetadata: "yes" } }, "images.keepMetadata: must be true or false"],
  [{ images: { keepPdfActions: 1 } }, "images.keepPdfActions: must be true or false"],
  [
    { images: { allowedHosts: "a" } },
    "images.allowedHosts: must be a list of at least one host, such as example.com",
  ],
  [
    { images: { allowedHosts: [1] } },
    "images.allowedHosts: must be a list of at least one host, such as example.com",
  ],
  [
    { images: { rateLimits: true } },
    "images.rateLimits: must be false or an object of options (creates, reads, edits, pinFailures)",
  ],
  [
    { images: { rateLimits: { creates: 0 } } },
    "images.rateLimits.creates: must be false or a whole number from 1, or { perMinute, burst } of such numbers",
  ],
  [
    { images: { rateLimits: { uploads: 5 } } },
    "images.rateLimits.uploads: unknown key, did you mean images.rateLimits.creates?",
  ],
  [
    { images: { sizes: "some" } },
    "images.sizes: must be one of any, steps, signed, or { steps } with a list of longer sides",
  ],
  [
    { images: { sizes: { steps: [0] } } },
    "images.sizes.steps: must be a list of 1 to 64 whole numbers from 1 to 8192",
  ],
  [
    { images: { sizes: { steps: [] } } },
    "images.sizes.steps: must be a list of 1 to 64 whole numbers from 1 to 8192",
  ],
  [{ images: { presets: [] } }, "images.presets: must be an object"],
  [
    { images: { presets: { Thumb: { page: 1 } } } },
    "images.presets.Thumb: must be named by 1 to 32 of a-z, 0-9 and -",
  ],
  [
    { images: { presets: { thumb: {} } } },
    "images.presets.thumb: must have at least one of resize, convert, page, fit, at, background, rotate, flip, blur, grey, sharpen, watermark",
  ],
  [
    { images: { presets: { thumb: { resize: "8193x" } } } },
    "images.presets.thumb.resize: must be <MaxWidth>x<MaxHeight>, <MaxWidth>x or x<MaxHeight> with sides of 1 to 8192 pixels",
  ],
  [
    { images: { presets: { thumb: { convert: "best" } } } },
    "images.presets.thumb.convert: must be one of low, medium, high, max, auto",
  ],
  [{ images: { presets: { thumb: { page: 1, size: 5 } } } }, "images.presets.thumb.size: unknown key"],
  [{ images: { presets: { a: { rotate: 45 } } } }, "images.presets.a.rotate: must be 90, 180 or 270"],
  [
    { images: { presets: { a: { watermark: { at: "north" } } } } },
    "images.presets.a.watermark.image: must be the path or the bytes of an image",
  ],
  [
    { images: { presets: { a: { watermark: { image: "a.png", size: 1 } } } } },
    "images.presets.a.watermark.size: unknown key",
  ],
  [{ images: { storage: "x" } }, "images.storage: unknown key"],
  [{ images: { tombstoneDays: 3651 } }, "images.tombstoneDays: must be a whole number from 0 to 3650"],
  [
    { images: { allowedHosts: [] } },
    "images.allowedHosts: must be a list of at least one host, such as example.com",
  ],
  [
    { images: { renditionsIdleDays: 0 } },
    "images.renditionsIdleDays: must be false or a whole number from 1 to 3650",
  ],
  [
    { images: { sweepEveryMs: 999 } },
    "images.sweepEveryMs: must be false or a whole number from 1000 to 86400000",
  ],
  [
    { images: { minUploadBytesPerSecond: -1 } },
    "images.minUploadBytesPerSecond: must be a whole number from 0",
  ],
  [
    { images: { cors: { origins: "https://a.example" } } },
    'images.cors.origins: must be a list of origins, or "*"',
  ],
  [
    { images: { cors: { origins: ["https://a.example/"] } } },
    'images.cors.origins.0: must be written as browsers do, without path or slash at the end: "https://a.example"',
  ],
  [
    { images: { cors: { origins: "*", credentials: true } } },
    'images.cors.credentials: needs a list of origins: browsers refuse them with "*"',
  ],
  [{ images: { cors: {} } }, 'images.cors.origins: must be a list of origins, or "*"'],
  [{ images: { ownerLimits: { images: 0.5 } } }, "images.ownerLimits.images: must be a whole number from 0"],
])("checkConfig rejects an invalid image option in %j and names the key", (config, problem) => {
  expect(problemsOf(config)).toEqual([problem]);
});
