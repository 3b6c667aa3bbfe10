import { createImagesClient, type ImagesClient, OutriggerError } from "@outrigger/client";
import { type ReadonlySignal, signal } from "@preact/signals";
import type { UploadConfig } from "./config.ts";
import { kindOf } from "./file-kinds.ts";
import { createImageActions, type ImageActions, isGone, reasonOf } from "./image-actions.ts";
import { createSender } from "./sending/sender.ts";
import { type Clock, createClock } from "./store/clock.ts";
import { createMessageLog, type MessageLog } from "./store/message-log.ts";
import { createNextOptions, type NextOptions } from "./store/next-options.ts";
import { readCreated } from "./store/saved-image.ts";
import { createSavedImages, type SavedImages } from "./store/saved-images.ts";
import { isUnfinished, reduceUploads, type Stage, type Upload, type UploadEvent } from "./store/uploads.ts";
import { createThumbnails } from "./thumbnails.ts";

/** State and actions of the page. */
export interface Session {
  config: UploadConfig;
  /** Uploads of this visit, newest first. */
  uploads: ReadonlySignal<readonly Upload[]>;
  saved: SavedImages;
  next: NextOptions;
  log: MessageLog;
  clock: Clock;
  images: ImageActions;
  add(files: readonly File[]): void;
  retry(upload: Upload): void;
  /** Cancels an upload, or removes a finished one from this page. */
  dismiss(upload: Upload): void;
  /** Names an upload that is not stored yet. The image gets the name as soon as it can be renamed. */
  nameLater(upload: Upload, name: string): void;
}

const NOT_UNDERSTOOD =
  "The reply did not come from the image service. Check whether this network needs a login.";

export function createSession(config: UploadConfig): Session {
  const uploads = signal<readonly Upload[]>([]);
  const client = createImagesClient({ baseUrl: config.baseUrl });
  const saved = createSavedImages(config.baseUrl);
  const log = createMessageLog();
  const next = createNextOptions(config);
  const thumbnails = createThumbnails();
  const images = createImageActions({ client, saved, log, dispatch });
  /** Names for uploads that could not be renamed yet. */
  const laterNames = new Map<string, string>();
  let batch = 0;
  let countInBatch = 0;

  const sender = createSender({
    endpoint: `${config.baseUrl}/api/images.json`,
    maxUploadBytes: config.maxUploadBytes,
    fieldsOf: (key, file) => ({ name: find(key)?.name ?? file.name, expiresAt: next.expiresAt() }),
    onAdded: addUpload,
    onAllAdded: endBatch,
    onStage: setStage,
    onAccepted: (key, body) => void settle(key, body),
    onUnwanted(body) {
      const created = readCreated(body);
      if (created !== null) void images.remove(created.image);
    },
  });

  function dispatch(event: UploadEvent): void {
    uploads.value = reduceUploads(uploads.value, event);
  }

  function find(key: string): Upload | undefined {
    return uploads.value.find((upload) => upload.key === key);
  }

  function addUpload(key: string, file: File, refusal: string | null): void {
    const kind = kindOf(file);
    const upload: Upload = {
      ...{ key, batch, size: file.size, previewUrl: null, image: null },
      name: next.nameFor(file, countInBatch),
      label: kind?.label ?? null,
      stage: { kind: "queued" },
    };
    countInBatch += 1;
    dispatch({ kind: "added", upload });
    if (refusal !== null) setStage(key, { kind: "failed", message: refusal, canRetry: false });
    else if (kind?.isShown) {
      thumbnails.make(file, (previewUrl) => dispatch({ kind: "previewed", key, previewUrl }));
    }
  }

  function endBatch(): void {
    if (countInBatch === 0) return;
    const added = uploads.value.filter((upload) => upload.batch === batch && upload.stage.kind === "queued");
    if (added.length === 1) log.say(`Uploading ${added[0]?.name}.`);
    else if (added.length > 1) log.say(`Uploading ${added.length} files.`);
    if (added.length > 0) next.name.value = "";
    batch += 1;
    countInBatch = 0;
  }

  function setStage(key: string, stage: Stage): void {
    const before = find(key);
    dispatch({ kind: "staged", key, stage });
    if (before === undefined) return;
    if (stage.kind === "failed") log.say(`${before.name}: ${stage.message}`);
    if (stage.kind === "waiting" && before.stage.kind !== "waiting") {
      log.say(
        stage.cause === "offline"
          ? "You’re offline. Uploads will resume when you reconnect."
          : `${before.name} is waiting.`,
      );
    }
  }

  /** Handles the reply to an upload: waits until the image can be served, then applies its name. */
  async function settle(key: string, body: unknown): Promise<void> {
    const created = readCreated(body);
    if (created === null) return setStage(key, { kind: "failed", message: NOT_UNDERSTOOD, canRetry: true });
    const { image, isReady } = created;
    saved.save(image);
    dispatch({ kind: "stored", key, image });
    const failure = isReady ? null : await waitUntilServed(client, image.id);
    if (failure !== null) {
      saved.forget(image.id);
      return setStage(key, { kind: "failed", message: failure, canRetry: true });
    }
    const wanted = laterNames.get(key);
    laterNames.delete(key);
    dispatch({ kind: "staged", key, stage: { kind: "ready" } });
    log.say(`Uploaded ${wanted ?? image.name}.`);
    if (wanted === undefined) dispatch({ kind: "updated", image });
    else if (wanted !== image.name) await images.rename(image, wanted);
  }

  return {
    ...{ config, uploads, saved, next, log, images },
    clock: createClock(),
    add: sender.add,
    retry: ({ key }) => sender.retry(key),
    dismiss(upload) {
      const { key, name, previewUrl } = upload;
      if (isUnfinished(upload)) log.say(`Cancelled ${name}.`);
      sender.forget(key);
      dispatch({ kind: "removed", key });
      if (previewUrl !== null) URL.revokeObjectURL(previewUrl);
    },
    nameLater({ key }, name) {
      laterNames.set(key, name);
      dispatch({ kind: "named", key, name });
    },
  };
}

const PAUSE_MS = 5_000;

/** Resolves with `null` when the image can be served, or with the reason why it never will be. */
async function waitUntilServed(client: ImagesClient, id: string): Promise<string | null> {
  for (;;) {
    try {
      await client.waitUntilReady(id);
      return null;
    } catch (error) {
      const mayComeBack = error instanceof OutriggerError && !isGone(error) && error.status !== 451;
      if (!mayComeBack) return reasonOf(error);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
