import "../../packages/web/test/english.ts";
import { type CreatedImage, createImagesClient, OutriggerError, type UploadOptions } from "@outrigger/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FileToSend, Sender } from "../../packages/web/browser/upload/sending/sender.ts";
import type { Lifetime } from "../../packages/web/browser/upload/store/next-options.ts";
import { UnfinishedUploads } from "../../packages/web/browser/upload/store/unfinished-uploads.ts";

const HOUR_MS = 3_600_000;
const BASE = "https://example.com/img";
const DAY: Lifetime = { kind: "for", ms: 24 * HOUR_MS };
const file = new File(["bytes"], "dusk.png", { lastModified: 1 });

/** As the browser's, whose names are its own properties. */
let kept: Record<string, string>;
const locks = { request: async (_name: string, use: () => unknown) => void use() };
beforeEach(() => {
  kept = {};
  const methods = {
    getItem: { value: (name: string) => kept[name] ?? null },
    setItem: { value: (name: string, text: string) => (kept[name] = text) },
    removeItem: { value: (name: string) => delete kept[name] },
  };
  vi.stubGlobal("localStorage", Object.defineProperties(kept, methods));
  vi.stubGlobal("navigator", { onLine: true, locks });
  vi.stubGlobal("addEventListener", () => undefined);
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** The uploads of a window, after one that was closed has begun this one. */
function afterClosing(lifetime: Lifetime): UnfinishedUploads {
  new UnfinishedUploads(BASE).begin({ key: "a", uploadId: "secret", name: "Dusk" }, file, lifetime);
  return new UnfinishedUploads(BASE);
}

test("a file that is chosen again with the same lifetime continues its upload", () => {
  const uploads = afterClosing(DAY);
  const discarded: string[] = [];
  const again = uploads.resume(file, { ...DAY }, (key) => discarded.push(key));
  expect(again).toMatchObject({ key: "a", uploadId: "secret", name: "Dusk" });
  expect([uploads.idOf("a"), uploads.left.value, discarded]).toEqual(["secret", [], []]);
});

test.each<[string, Lifetime, Lifetime, number]>([
  ["another duration", DAY, { kind: "for", ms: HOUR_MS }, 0],
  [
    "a date in place of none",
    { kind: "for", ms: Number.POSITIVE_INFINITY },
    { kind: "until", text: "2050-01-01T00:00" },
    0,
  ],
  ["a duration that is over", { kind: "for", ms: HOUR_MS }, { kind: "for", ms: HOUR_MS }, HOUR_MS],
])("a file that is chosen again with %s discards its upload and begins anew", (_what, before, now, ageMs) => {
  const uploads = afterClosing(before);
  uploads.left.value = uploads.left.value.map((left) => ({ ...left, begunAt: left.begunAt - ageMs }));
  const discarded: string[] = [];
  expect(uploads.resume(file, now, (key) => discarded.push(key))).toBeUndefined();
  expect([discarded, uploads.idOf("a")]).toEqual([["a"], undefined]);
});

test("without locks, the secret ID of an upload stays in its window", () => {
  vi.stubGlobal("navigator", { onLine: true });
  const uploads = new UnfinishedUploads(BASE);
  uploads.begin({ key: "a", uploadId: "secret", name: "Dusk" }, file, DAY);
  expect([uploads.idOf("a"), kept]).toEqual(["secret", {}]);
});

test("an upload that is cancelled after its last byte is forgotten and discarded when its reply is lost", async () => {
  const unfinished = new UnfinishedUploads(BASE);
  const discarded: string[] = [];
  const stages: string[] = [];
  const client = {
    ...createImagesClient({ baseUrl: BASE }),
    /** Sends all bytes; then the user cancels, and the connection breaks. */
    async upload(_source: unknown, options: UploadOptions = {}): Promise<CreatedImage> {
      if (typeof options.resumable === "object") options.resumable.onUploadId?.("secret");
      options.onProgress?.({ sentBytes: 5, totalBytes: 5 });
      sender.cancel("a");
      expect(discarded).toEqual([]);
      throw new OutriggerError({ status: 0, title: "", detail: "The connection broke" });
    },
    discardUpload: async (uploadId: string) => void discarded.push(uploadId),
  };
  const sender = new Sender({
    client,
    unfinished,
    onStage: (_key, { kind }) => stages.push(kind),
    onCreated: () => stages.push("created"),
    onUnwanted: () => stages.push("unwanted"),
  });
  const given: FileToSend = {
    ...{ key: "a", file, type: "image/png", name: "Dusk", lifetime: DAY },
    expiresAt: () => undefined,
    ticket: undefined,
  };
  await sender.send(given);
  expect([discarded, unfinished.idOf("a"), kept]).toEqual([["secret"], undefined, {}]);
  expect(stages).toEqual(["queued", "sending", "sending"]);
});
