import { createImagesClient, type ImagesClient, OutriggerError } from "@outrigger/client";
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { KeptUpload } from "../saved/kept-uploads.ts";
import { expiryMs, readCreated, type SavedImage } from "../saved/saved-image.ts";
import { serverNow } from "../saved/server-clock.ts";
import type { UploadConfig } from "./config.ts";
import { type FileKind, isImageAddress, kindOf } from "./file-kinds.ts";
import { createImageActions, type ImageActions, isGone, reasonOf } from "./image-actions.ts";
import type { ConvertedFile } from "./intake/convert-file.ts";
import { createSender } from "./sending/sender.ts";
import { createAnnouncer } from "./store/announcer.ts";
import { type Checks, createChecks } from "./store/checks.ts";
import { type Clock, createClock } from "./store/clock.ts";
import { createDeparting, type Departing } from "./store/departing.ts";
import { createKnownFiles } from "./store/known-files.ts";
import { createMessageLog, type MessageLog } from "./store/message-log.ts";
import { createNextOptions, type NextOptions } from "./store/next-options.ts";
import { createSavedImages, type SavedImages } from "./store/saved-images.ts";
import { createTimeLeft } from "./store/time-left.ts";
import { type Totals, totalsOf } from "./store/totals.ts";
import { isUnfinished, reduceUploads, type Stage, type Upload, type UploadEvent } from "./store/uploads.ts";
import { createThumbnails } from "./thumbnails.ts";
import { type Continuation, createContinuation } from "./unfinished/continuation.ts";
import { createUnfinished, type Unfinished } from "./unfinished/unfinished.ts";

/** State and actions of the page. */
export interface Session {
  config: UploadConfig;
  /** Uploads of this visit, newest first, without those that are about to be deleted. */
  uploads: ReadonlySignal<readonly Upload[]>;
  totals: ReadonlySignal<Totals>;
  /** Estimated time until all uploads end, milliseconds; `null` when unknown. */
  timeLeft: ReadonlySignal<number | null>;
  saved: SavedImages;
  next: NextOptions;
  log: MessageLog;
  clock: Clock;
  images: ImageActions;
  checks: Checks;
  departing: Departing;
  /** A client that waits and retries as the service asks. */
  client: ImagesClient;
  unfinished: Unfinished;
  /** Sends files; while the chosen expiry has a fault, as soon as it is corrected. */
  add: Continuation["add"];
  /** Likewise, for offered uploads. */
  resume(offered: readonly KeptUpload[]): void;
  /** Advice about the last paste or share; `null` when there is none. */
  advice: ReadonlySignal<string | null>;
  /** Shows and announces advice until the next upload. */
  advise(text: string | null): void;
  /** Gives advice about pasted text if it is the address of an image. */
  notePastedText(text: string): void;
  /** Sends a file again, or despite an earlier upload of the same file. */
  retry(upload: Upload): void;
  /** Cancels unfinished uploads and removes finished ones from this page. */
  dismiss(uploads: readonly Upload[]): void;
  /** Names an upload that is not stored yet. The image gets the name as soon as it can be renamed. */
  nameLater(upload: Upload, name: string): void;
}

const NOT_UNDERSTOOD =
  "The reply did not come from the image service. Check whether this network needs a login.";

export function createSession(config: UploadConfig): Session {
  const uploads = signal<readonly Upload[]>([]);
  const client = createImagesClient({ baseUrl: config.baseUrl });
  const saved = createSavedImages(config.baseUrl);
  const advice = signal<string | null>(null);
  const clock = createClock();
  const log = createMessageLog();
  const announcer = createAnnouncer(uploads, log);
  const next = createNextOptions(config, config.baseUrl);
  const thumbnails = createThumbnails();
  const images = createImageActions({ client, saved, log, dispatch });
  const checks = createChecks({
    saved,
    client: createImagesClient({ baseUrl: config.baseUrl, maxRetries: 0 }),
    onChanged: (image) => dispatch({ kind: "updated", image }),
  });
  const departing = createDeparting({ saved, log, remove: images.remove, onDeleted: dropUploadOf });
  const shown = computed(() => uploads.value.filter(({ image }) => !departing.ids.value.has(image?.id)));
  const totals = computed(() => totalsOf(shown.value));
  const knownFiles = createKnownFiles(saved);
  const unfinished = createUnfinished(config.baseUrl);
  const continuation = createContinuation({ unfinished, next, send: (files) => sender.add(files) });
  /** Uploads of files that the user wants to upload once more. */
  const wantedAgain = new Set<string>();
  /** Names for uploads that could not be renamed yet. */
  const laterNames = new Map<string, string>();
  let batch = 0;
  let countInBatch = 0;

  const sender = createSender({
    endpoint: `${config.baseUrl}/api/images.json`,
    maxUploadBytes: config.maxUploadBytes,
    fieldsOf: (key, file) => ({ name: find(key)?.name ?? file.name, expiresAt: next.expiresAt() }),
    admit,
    onDropped: add,
    onStarted: ({ key, ...meta }, file, chosen) => unfinished.keep(key, meta, file, chosen),
    onEnded: unfinished.drop,
    onAdded: addUpload,
    onConverted: replaceFile,
    onAllAdded: endBatch,
    onStage: setStage,
    onAccepted(key, body, file) {
      void settle(key, body, file);
    },
    onUnwanted(body) {
      const created = readCreated(body);
      if (created !== null) void removeUnwanted(created.image);
    },
  });

  function add(files: readonly File[]): void {
    next.whenValid(files.length, () => continuation.add(files));
  }

  function dispatch(event: UploadEvent): void {
    uploads.value = reduceUploads(uploads.value, event);
  }

  function find(key: string): Upload | undefined {
    return uploads.value.find((upload) => upload.key === key);
  }

  /** Without the PIN, an image that cannot be deleted now could never be. */
  async function removeUnwanted(image: SavedImage): Promise<void> {
    const reason = await images.remove(image);
    if (reason === null) return;
    saved.save(image);
    log.say(`${image.name} was not deleted. ${reason}`);
  }

  async function admit(key: string, file: File): Promise<boolean> {
    // A continued upload may be in the list already: its reply is the same image.
    const isWanted = wantedAgain.has(key) || continuation.metaOf(key) !== null;
    const twin = isWanted ? null : await knownFiles.find(file);
    const image = twin && (await checks.checkNow(twin));
    const isServed = image && !image.unavailable && expiryMs(image.expiresAt) > serverNow();
    if (!isServed) return true;
    setStage(key, { kind: "known", image });
    return false;
  }

  function addUpload(key: string, file: File, refusal: string | null, isForeign: boolean): void {
    const kind = isForeign ? null : kindOf(file);
    const upload: Upload = {
      ...{ key, batch, size: file.size, previewUrl: null, image: null, note: null },
      name: continuation.metaOf(key)?.name ?? next.nameFor(file, countInBatch),
      label: kind?.label ?? null,
      stage: { kind: "queued" },
    };
    countInBatch += 1;
    dispatch({ kind: "added", upload });
    if (refusal === null) makeThumbnail(key, file, kind);
    else dispatch({ kind: "staged", key, stage: { kind: "failed", message: refusal, canRetry: false } });
  }

  function makeThumbnail(key: string, file: File, kind: FileKind | null): void {
    if (!kind?.isShown) return;
    thumbnails.make(file, (previewUrl) => dispatch({ kind: "previewed", key, previewUrl }));
  }

  /** A name that the user chose is kept; the file name gets the ending of the new type. */
  function replaceFile(key: string, chosen: File, { file, note }: ConvertedFile): void {
    const upload = find(key);
    if (upload === undefined) return;
    const kind = kindOf(file);
    const name = upload.name === chosen.name ? file.name : upload.name;
    dispatch({ kind: "converted", key, file: { name, note, size: file.size, label: kind?.label ?? null } });
    makeThumbnail(key, file, kind);
  }

  function endBatch(): void {
    if (countInBatch === 0) return;
    advice.value = null;
    const together = uploads.value.filter((upload) => upload.batch === batch);
    const added = together.filter(({ stage }) => stage.kind === "queued");
    if (added.length === 1) log.say(`Uploading ${added[0]?.name}.`);
    else if (added.length > 1) log.say(`Uploading ${added.length} files.`);
    for (const upload of together) {
      if (upload.stage.kind === "failed") announcer.ended(upload, failureText(upload.name, upload.stage));
    }
    if (added.some(({ key }) => continuation.metaOf(key) === null)) next.name.value = "";
    batch += 1;
    countInBatch = 0;
  }

  function setStage(key: string, stage: Stage): void {
    const before = find(key);
    dispatch({ kind: "staged", key, stage });
    if (before === undefined) return;
    if (stage.kind === "known") log.say(`You already uploaded ${before.name}.`);
    if (stage.kind === "failed") announcer.ended(before, failureText(before.name, stage));
    const isFirstToWait = uploads.value.every(
      (upload) => upload.key === key || upload.stage.kind !== "waiting",
    );
    if (stage.kind === "waiting" && before.stage.kind !== "waiting" && isFirstToWait) {
      log.say(
        stage.cause === "offline"
          ? "You’re offline. Uploads will resume when you reconnect."
          : `${before.name} is waiting.`,
      );
    }
  }

  /** Handles the reply to an upload: waits until the image can be served, then applies its name. */
  async function settle(key: string, body: unknown, file: File): Promise<void> {
    const created = readCreated(body);
    if (created === null) return setStage(key, { kind: "failed", message: NOT_UNDERSTOOD, canRetry: true });
    const { image, isReady } = created;
    saved.save({ ...image, checkedAt: Date.now() });
    if (saved.isUnsaved(image.id)) log.say("This browser can’t keep your edit link. Copy it now.");
    unfinished.drop(key);
    void knownFiles.remember(image.id, file);
    dispatch({ kind: "stored", key, image });
    const failure = isReady ? null : await waitUntilServed(client, image.id);
    if (failure !== null) {
      if (isGone(failure)) saved.forget([image.id]);
      return setStage(key, { kind: "failed", message: reasonOf(failure), canRetry: true });
    }
    const wanted = laterNames.get(key);
    laterNames.delete(key);
    dispatch({ kind: "staged", key, stage: { kind: "ready" } });
    const stored = find(key);
    if (stored !== undefined) announcer.ended(stored, `Uploaded ${wanted ?? image.name}.`);
    if (wanted === undefined) dispatch({ kind: "updated", image });
    else if (wanted !== image.name) await images.rename(image, wanted);
  }

  function advise(text: string | null): void {
    advice.value = text;
    if (text !== null) log.say(text);
  }

  function dismiss({ key, previewUrl }: Upload): void {
    sender.forget(key);
    dispatch({ kind: "removed", key });
    if (previewUrl !== null) URL.revokeObjectURL(previewUrl);
  }

  function dropUploadOf({ id }: SavedImage): void {
    for (const upload of uploads.value) if (upload.image?.id === id) dismiss(upload);
  }

  return {
    ...{ config, uploads: shown, totals, saved, next, log, clock, images, checks, departing, client, advice },
    ...{ unfinished, add },
    resume(offered) {
      // What a closed window sent has its expiry.
      const isDated = offered.every(({ meta }) => meta !== null);
      next.whenValid(isDated ? 0 : offered.length, () => void continuation.resume(offered));
    },
    timeLeft: createTimeLeft(totals, clock),
    advise,
    notePastedText: (text) =>
      advise(isImageAddress(text) ? "Paste the picture itself, not its address." : null),
    retry({ key, stage }) {
      if (stage.kind === "known") wantedAgain.add(key);
      sender.retry(key);
    },
    dismiss(dropped) {
      const cancelled = dropped.filter(isUnfinished);
      if (cancelled.length === 1) log.say(`Cancelled ${cancelled[0]?.name}.`);
      else if (cancelled.length > 1) log.say(`Cancelled ${cancelled.length} uploads.`);
      dropped.forEach(dismiss);
    },
    nameLater({ key }, name) {
      laterNames.set(key, name);
      dispatch({ kind: "named", key, name });
    },
  };
}

function failureText(name: string, { message }: { message: string }): string {
  return `${name}: ${message}`;
}

const PAUSE_MS = 5_000;

/** Resolves with `null` when the image can be served, or with the error when it never will be. */
async function waitUntilServed(client: ImagesClient, id: string): Promise<unknown> {
  for (;;) {
    try {
      await client.waitUntilReady(id);
      return null;
    } catch (error) {
      const mayComeBack = error instanceof OutriggerError && !isGone(error) && error.status !== 451;
      if (!mayComeBack) return error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
