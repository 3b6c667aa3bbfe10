import {
  type CreatedImage,
  createImagesClient,
  type ImageRecord,
  type ImagesClient,
  OutriggerError,
} from "@outrigger/client";
import { computed, signal } from "@preact/signals";
import { lossText } from "../../src/phrases.ts";
import { t } from "../../src/texts.ts";
import { readSaved, type SavedImage } from "../saved/saved-image.ts";
import { serverNow } from "../saved/server-clock.ts";
import type { UploadConfig } from "./config.ts";
import { labelOf, readKind, refusalOf, sentType } from "./file-kinds.ts";
import { randomKey, Sender } from "./sending/sender.ts";
import { ListChecks } from "./store/list-checks.ts";
import { say } from "./store/messages.ts";
import { expiryOf, type Lifetime, NextOptions } from "./store/next-options.ts";
import { PageTicket } from "./store/page-ticket.ts";
import { SavedImages } from "./store/saved-images.ts";
import { announcementText, totalsOf } from "./store/totals.ts";
import {
  earlierUpload,
  isActive,
  isUnfinished,
  type Stage,
  type Upload,
  withSaved,
} from "./store/uploads.ts";
import { makeThumbnail } from "./thumbnails.ts";

/** Pause between two summaries of several uploads for screen readers. */
const SUMMARY_MS = 2000;

/** The state of the page: the uploads of this visit, and the images of earlier ones. */
export class Session {
  readonly config: UploadConfig;
  readonly saved: SavedImages;
  readonly next: NextOptions;
  readonly checks: ListChecks;
  /** Uploads of this visit, newest batch first. */
  readonly uploads = computed(() => withSaved(this.#added.value, this.saved.list.value));
  /** The images of earlier visits, newest first. */
  readonly earlier = computed(() => {
    const shown = new Set(this.uploads.value.map(({ image }) => image?.id));
    const images = this.saved.list.value
      .filter(({ id }) => !shown.has(id))
      .sort((one, other) => (other.chosenAt ?? 0) - (one.chosenAt ?? 0));
    return images.map(earlierUpload);
  });
  readonly totals = computed(() => totalsOf(this.uploads.value));
  /** Advice about the last drop; `null` when there is none. */
  readonly advice = signal<string | null>(null);
  readonly ticket: PageTicket;
  readonly #added = signal<readonly Upload[]>([]);
  readonly #client: ImagesClient;
  readonly #sender: Sender;
  #batches = 0;
  #isSummaryPlanned = false;

  constructor(config: UploadConfig) {
    const { baseUrl } = config;
    const once = createImagesClient({ baseUrl, maxRetries: 0 });
    this.config = config;
    this.saved = new SavedImages(baseUrl);
    this.ticket = new PageTicket(config);
    this.next = new NextOptions(config, baseUrl);
    this.checks = new ListChecks(this.saved, once);
    this.#client = createImagesClient({ baseUrl });
    this.#sender = new Sender({
      client: once,
      isResumable: config.isResumable,
      onStage: (key, stage) => this.#setStage(key, stage),
      onCreated: (key, created) => void this.#settle(key, created),
      onUnwanted: (created) => void this.#removeUnwanted(created),
    });
  }

  /** Sends files; while the chosen expiry has a fault, as soon as it is corrected. With a ticket, one at a time. */
  async add(files: readonly File[]): Promise<void> {
    if (files.length === 0) return;
    await this.ticket.known;
    const { text, terms, end } = this.ticket.state.value;
    if (end !== undefined) return say(t(end));
    const isOther = this.next.waiting.value > 0 || this.#added.value.some(isActive);
    if (text !== undefined && (files.length > 1 || isOther)) return this.advise(t("uploads.oneFile"));
    // The fault may be in a field that the ticket hides.
    if (terms?.expiresAt) void this.#addBatch(files);
    else this.next.whenValid(files.length, () => void this.#addBatch(files));
  }

  /** Sends a file again. */
  retry({ key }: Upload): void {
    const upload = this.#added.value.find((each) => each.key === key);
    if (upload !== undefined) this.#send(upload);
  }

  /** Cancels unfinished uploads, and removes failed ones from this page. */
  dismiss(uploads: readonly Upload[]): void {
    const cancelled = uploads.filter(isUnfinished);
    if (cancelled.length === 1) say(t("uploads.cancelled", { name: cancelled[0]?.name ?? "" }));
    else if (cancelled.length > 1) say(t("uploads.cancelledMany", { count: cancelled.length }));
    for (const { key, previewUrl } of uploads) {
      this.#sender.cancel(key);
      if (previewUrl !== null) URL.revokeObjectURL(previewUrl);
    }
    const keys = new Set(uploads.map(({ key }) => key));
    this.#added.value = this.#added.value.filter(({ key }) => !keys.has(key));
  }

  /** Shows and announces advice about a drop. */
  advise(text: string): void {
    this.advice.value = text;
    say(text);
  }

  /** Deletes an image from the service, even if the page is left meanwhile. It stays in the list. @returns the reason for a failure; `null` on success. */
  async remove({ id, pin }: Pick<SavedImage, "id" | "pin">): Promise<string | null> {
    try {
      await this.#client.remove(id, pin, { keepalive: true });
      return null;
    } catch (error) {
      return isGone(error) ? null : reasonOf(error);
    }
  }

  async #addBatch(files: readonly File[]): Promise<void> {
    const { text: ticket, terms } = this.ticket.state.value;
    const preset: Lifetime = { kind: "for", ms: this.config.defaultLifetimeMs };
    const lifetime = terms?.expiresAt ? preset : this.next.lifetime.peek();
    const names = files.map((file, index) => terms?.name ?? this.next.nameFor(file, index));
    const chosenAt = Date.now();
    const kinds = await Promise.all(files.map(readKind));
    const batch = this.#batches++;
    const together = files.map((file, index): Upload => {
      const kind = kinds[index] ?? null;
      const message = refusalOf(file, kind, this.ticket.limits.value);
      const name = names[index] ?? file.name;
      const type = kind === null ? file.type : sentType(kind);
      return {
        key: randomKey(),
        batch,
        name,
        label: labelOf(kind),
        chosen: { file, type, name, lifetime, ticket, at: chosenAt - index / files.length },
        previewUrl: null,
        stage: message === null ? { kind: "queued" } : { kind: "failed", message, canRetry: false },
        loss: null,
        image: null,
      };
    });
    this.#added.value = [...together, ...this.#added.value];
    this.advice.value = null;
    const sent = together.filter(isActive);
    if (sent.length === 1) say(t("uploads.starting", { name: sent[0]?.name ?? "" }));
    else if (sent.length > 1) say(t("uploads.startingMany", { count: sent.length }));
    for (const upload of together) this.#announceFailure(upload);
    for (const upload of sent) this.#send(upload);
    if (sent.length > 0) this.next.name.value = "";
    for (const { key, chosen } of sent)
      if (chosen !== null) makeThumbnail(chosen.file, (previewUrl) => this.#change(key, { previewUrl }));
  }

  #send({ key, chosen }: Upload): void {
    if (chosen === null) return;
    const expiresAt = () => expiryOf(chosen.lifetime, serverNow(), this.config);
    void this.#sender.send({ key, ...chosen, expiresAt, ticket: chosen.ticket });
  }

  #change(key: string, change: Partial<Upload>): void {
    this.#added.value = this.#added.value.map((upload) =>
      upload.key === key ? { ...upload, ...change } : upload,
    );
  }

  #setStage(key: string, stage: Stage): void {
    const others = this.#added.value.filter((upload) => upload.key !== key);
    const before = this.#added.value.find((upload) => upload.key === key);
    this.#change(key, { stage });
    if (before === undefined) return;
    const ticket = before.chosen?.ticket;
    if (stage.kind === "failed" && ticket !== undefined) void this.ticket.ask(ticket);
    this.#announceFailure({ ...before, stage });
    const isFirstToWait = others.every((upload) => upload.stage.kind !== "waiting");
    if (stage.kind === "waiting" && before.stage.kind !== "waiting" && isFirstToWait) {
      say(stage.cause === "offline" ? t("uploads.offlineAll") : t("uploads.waits", { name: before.name }));
    }
  }

  /** Handles the reply to an upload, and waits until the image can be served. */
  async #settle(key: string, created: CreatedImage): Promise<void> {
    // Only the first of several replies to a ticket may have the PIN.
    const known = this.saved.list.value.find(({ id }) => id === created.id);
    const image = readSaved({ pin: known?.pin, ...(created as Partial<CreatedImage>) });
    if (image === null)
      return this.#setStage(key, { kind: "failed", message: t("uploads.notUnderstood"), canRetry: true });
    const chosenAt = this.#added.value.find((upload) => upload.key === key)?.chosen?.at;
    this.saved.save({ ...image, checkedAt: Date.now(), ...(chosenAt !== undefined && { chosenAt }) });
    if (this.saved.atRisk.value.some(({ id }) => id === image.id)) say(t("uploads.risk", { count: 1 }));
    this.#change(key, { image, stage: { kind: "processing" } });
    const { status, warnings } = created;
    const served =
      status === "processing" ? await waitUntilServed(this.#client, image.id) : { status, warnings };
    if (!("failure" in served)) {
      const isHeld = served.status === "held";
      this.#change(key, { stage: { kind: "ready", isHeld }, loss: lossText(served.warnings ?? []) });
      const stored = this.#added.value.find((upload) => upload.key === key);
      this.ticket.set(stored?.chosen?.ticket, { end: "uploads.ticketUsed" });
      if (stored !== undefined)
        this.#announceEnd(
          stored,
          t(isHeld ? "uploads.uploadedHeld" : "uploads.uploaded", { name: image.name }),
        );
      return;
    }
    this.#change(key, { image: null });
    // The service has judged the file, or the image has ended.
    const canRetry = !(served.failure instanceof OutriggerError);
    this.#setStage(key, { kind: "failed", message: reasonOf(served.failure), canRetry });
    if (isGone(served.failure)) this.saved.forget([image.id]);
    else if (!canRetry) this.saved.change(image.id, { unavailable: "withheld" });
  }

  /** Without the PIN, an image that cannot be deleted now could never be. */
  async #removeUnwanted(created: CreatedImage): Promise<void> {
    // A reply to a ticket may lack the PIN.
    const reason = created.pin ? await this.remove(created) : t("uploads.alreadyUploaded");
    const image = readSaved(created);
    if (reason === null || image === null) return;
    this.saved.save(image);
    say(t("uploads.deleteFailed", { name: image.name, reason }));
  }

  #announceFailure(upload: Upload): void {
    const { name, stage } = upload;
    if (stage.kind !== "failed") return;
    this.#announceEnd(upload, t("uploads.failedBecause", { name, reason: stage.message }));
  }

  /** Says `text` if the upload is alone. Several uploads are summed up, for screen readers not to be flooded. */
  #announceEnd({ batch, key }: Upload, text: string): void {
    const isAlone = !this.#added.value.some(
      (other) => other.key !== key && (other.batch === batch || isActive(other)),
    );
    if (isAlone) say(text);
    if (isAlone || this.#isSummaryPlanned) return;
    this.#isSummaryPlanned = true;
    setTimeout(() => {
      this.#isSummaryPlanned = false;
      if (this.uploads.value.length > 0) say(announcementText(this.totals.value));
    }, SUMMARY_MS);
  }
}

/** Whether the image no longer exists. */
function isGone(error: unknown): boolean {
  return error instanceof OutriggerError && (error.status === 404 || error.status === 410);
}

/** Why a request failed, for a person. */
function reasonOf(error: unknown): string {
  if (!(error instanceof OutriggerError)) return t("uploads.pageFailed");
  if (error.status === 0) return t("uploads.unreachable");
  return t("refused.quote", { reason: error.detail.replace(/\.$/, "") });
}

const PAUSE_MS = 5_000;

/** Resolves with the record when the image can be served, or with the error when it never will be. */
async function waitUntilServed(
  client: ImagesClient,
  id: string,
): Promise<Pick<ImageRecord, "status" | "warnings"> | { failure: unknown }> {
  for (;;) {
    try {
      return await client.waitUntilReady(id);
    } catch (failure) {
      const mayComeBack = failure instanceof OutriggerError && !isGone(failure) && failure.status !== 451;
      // Stored, but not for this client to see, as may be with a ticket.
      if (mayComeBack && failure.status === 403) return { status: "ready", warnings: [] };
      if (!mayComeBack) return { failure };
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
