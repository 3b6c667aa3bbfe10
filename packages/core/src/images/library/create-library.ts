import { setTimeout as delay } from "node:timers/promises";
import { isDate } from "node:util/types";
import { checkOptions } from "../../check-options.ts";
import { abortSignal } from "../../contract-rules.ts";
import type { SpooledFile } from "../../contracts/call.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import * as rules from "../../option-rules.ts";
import { isOwnerName, MAX_OWNER_LENGTH } from "../authorize.ts";
import { checkOwnerLimits } from "../image-settings.ts";
import { loadNotOver } from "../life/damaged-image.ts";
import { isClaimed } from "../processing/transitions.ts";
import { expiryAfter, nameOfFile, parseExpiry, parseName } from "../record/image-fields.ts";
import { isImageId } from "../record/image-id.ts";
import { unknownImage } from "../record/image-life.ts";
import { addedDetailsOf, detailsOf } from "../record/image-links.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { parseFocus } from "../record/picture-point.ts";
import { HOST_CLIENT } from "../renditions/scheduling/queue-order.ts";
import { claimName, digestOf, parseIdempotencyKey } from "../uploads/idempotency-key.ts";
import type { ReservationRequest } from "../uploads/reserve-image.ts";
import { temporaryPath } from "../uploads/uploaded-file.ts";
import { addImage } from "./add-image.ts";
import { changeImage, parseChange, removeImage } from "./change-image.ts";
import { findImage } from "./find-image.ts";
import type { AddOptions, EditOptions, ImageEdit, ImageLibrary, StoredImage } from "./image-library.ts";
import { importUrl, parseImportUrl } from "./import-url.ts";
import type { LibraryContext } from "./library-context.ts";
import { OPEN_RULES, openImage } from "./open-image.ts";
import {
  checkSource,
  holdErrors,
  type ImageSource,
  isUrlSource,
  releaseSource,
  spoolSource,
} from "./spool-source.ts";

/** Interval in milliseconds for checking whether an image of another call is ready. */
const LOOK_MS = 250;

const any = rules.any();

// Options with the rule `any` are parsed like parameters of requests.
const ADD_RULES = {
  ...{ name: any, expiresAt: any, focus: any, idempotencyKey: any },
  type: rules.text("a media type, such as image/png"),
  owner: rules.value(`a name of 1 to ${MAX_OWNER_LENGTH} characters`, isOwnerName),
  ownerLimits: any,
  wait: rules.preset(true, rules.flag()),
  signal: abortSignal,
} satisfies rules.RuleTable<AddOptions>;

type CheckedAdd = rules.Checked<AddOptions, typeof ADD_RULES>;

const FIND_RULES = { signal: abortSignal };
const CHANGE_RULES = { ...{ name: any, expiresAt: any, focus: any } } satisfies rules.RuleTable<ImageEdit>;
const EDIT_RULES = {
  ifRevision: rules.text("a revision, as find() gives it"),
  signal: abortSignal,
} satisfies rules.RuleTable<EditOptions>;

/**
 * @param run Runs the work of a call. Rejects if the service is closed.
 * @param closing Aborts waiting calls when the service closes.
 */
export function createLibrary(
  context: LibraryContext,
  run: <T>(work: () => Promise<T>) => Promise<T>,
  closing: AbortSignal,
): ImageLibrary {
  const { guard, settings } = context;
  const base = settings.publicUrl ?? "";

  /** Runs work on an image once the storage is open. A malformed ID is rejected without a lookup. */
  function runOn<T>(id: string, work: () => Promise<T>): Promise<T> {
    return run(async () => {
      if (!isImageId(id)) throw unknownImage();
      if (!guard.isOpen) await guard.open();
      return work();
    });
  }

  async function add(source: ImageSource, given: CheckedAdd): Promise<CurrentRecord> {
    const { owner, signal = neverAborted() } = given;
    const name = parseName(given.name);
    const expiresAt = parseExpiry(inText(given.expiresAt), "code", settings.now(), settings);
    const focus = parseFocus(given.focus) ?? undefined;
    const limits =
      given.ownerLimits === undefined
        ? settings.ownerLimits
        : checkOwnerLimits("ownerLimits of add", given.ownerLimits);
    const key = parseIdempotencyKey(given.idempotencyKey, "idempotencyKey");
    if (!given.wait) await context.jobs.requireRoom();
    const declaredType = mediaTypeOf(given.type);
    const uploader = owner === undefined ? HOST_CLIENT : `${HOST_CLIENT}, owner ${owner}`;
    // Without `expiresAt`: its default depends on the time of each call.
    const claimOf = (content: string) => {
      if (key === null) return null;
      const asked = [content, declaredType, name ?? null, ...(focus === undefined ? [] : [String(focus)])];
      return { name: claimName([uploader], key), fingerprint: digestOf(asked) };
    };
    const received = await receive(source, declaredType, signal, claimOf);
    if ("made" in received) return given.wait ? whenReady(received.made, signal) : received.made;
    const { file, claim } = received;
    const current = await addImage(context, file, () => {
      const createdAt = settings.now();
      return {
        facts: {
          name: name ?? nameOfFile(file.name),
          createdAt,
          expiresAt: expiresAt === undefined ? expiryAfter(createdAt, settings.defaultLifetimeMs) : expiresAt,
          focus,
          agent: null,
          owner: owner ?? null,
          called: { file: "source", declaredType: "type" },
        },
        reservation: {
          claim,
          limits,
        },
        patience: {
          waitMs: given.wait ? null : 0,
          acceptsWhenBusy: !given.wait,
          client: HOST_CLIENT,
          signal,
        },
      };
    });
    return given.wait ? whenReady(current, signal) : current;
  }

  /** The bytes of a source, and the claim of its idempotency key; or the image that an earlier call with it stored. */
  async function receive(
    source: ImageSource,
    declaredType: string,
    signal: AbortSignal,
    claimOf: (content: string) => ReservationRequest["claim"],
  ): Promise<{ file: SpooledFile; claim: ReservationRequest["claim"] } | { made: CurrentRecord }> {
    if (isUrlSource(source)) {
      const address = parseImportUrl(String(source.url), context);
      // By its URL: the file there may change between two calls.
      const claim = claimOf(address.url.href);
      const made = claim === null ? null : await context.claims.find(claim);
      if (made !== null) return { made };
      const given = { declaredType, client: HOST_CLIENT, signal };
      return { file: await importUrl(context, address, given), claim };
    }
    const path = temporaryPath(context.originals);
    const file = await spoolSource(source, { path, declaredType, maxBytes: settings.maxUploadBytes, signal });
    return { file, claim: claimOf(file.sha256) };
  }

  /** Waits until an image is processed that an earlier call with the same idempotency key stored. */
  async function whenReady(added: CurrentRecord, signal: AbortSignal): Promise<CurrentRecord> {
    const ended = AbortSignal.any([signal, closing]);
    for (let current: CurrentRecord | null = added; current !== null; ) {
      const { record } = current;
      const { failure, gone, processing } = record;
      if (failure !== null) throw new ServiceError("unsupported_media", failure);
      if (processing === null || gone !== null) return current;
      if (!isClaimed(processing, settings.now())) context.jobs.enqueue(record);
      await delay(LOOK_MS, undefined, { signal: ended }).catch(() => ended.throwIfAborted());
      current = await context.records.load(record.id, ended);
    }
    throw unknownImage();
  }

  return {
    async add(source, options) {
      try {
        checkSource(source);
        holdErrors(source);
        const given = checkOptions("add", options, ADD_RULES);
        return await run(async () => {
          // Before the first write: an image without a PIN could not be edited.
          const pins = await context.pins();
          const { record, revision } = await add(source, given);
          return { ...addedDetailsOf(base, record, pins.pinOf(record.id)), revision };
        });
      } catch (error) {
        releaseSource(source);
        throw error;
      }
    },
    async open(id, options) {
      const given = checkOptions("open", options, OPEN_RULES);
      return runOn(id, () => openImage(context, id, given, given.signal ?? neverAborted()));
    },
    async find(id, options) {
      const { signal } = checkOptions("find", options, FIND_RULES);
      return runOn(id, async () => stored(base, await findImage(context, id, signal)));
    },
    async edit(id, change, options) {
      const { name, expiresAt, focus } = checkOptions("edit", change, CHANGE_RULES);
      const { ifRevision, signal } = checkOptions("edit", options, EDIT_RULES);
      return runOn(id, async () => {
        const current = await findImage(context, id, signal);
        if (ifRevision !== undefined && ifRevision !== current.revision) {
          throw new ServiceError("conflict", "The image has changed since this revision");
        }
        const parsed = parseChange({ name, expiresAt: inText(expiresAt), focus }, "code", context);
        return unlessEnded(context, id, async () =>
          stored(base, await changeImage(context, current, parsed)),
        );
      });
    },
    remove: (id) =>
      runOn(id, async () => {
        const current = await loadNotOver(context, id);
        await unlessEnded(context, id, () => removeImage(context, current));
      }),
  };
}

/** A new signal for each call: many listeners on one signal would look like a leak. */
function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

function stored(base: string, { record, revision }: CurrentRecord): StoredImage {
  return { ...detailsOf(base, record), revision };
}

/** Runs a change. If it loses a race against the end of the image, it rejects with the error for that end. */
async function unlessEnded<T>(context: LibraryContext, id: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    // The error tells of the other change, too.
    if (isServiceError(error, "conflict")) await context.records.settled(await loadNotOver(context, id));
    throw error;
  }
}

/** Converts a date for the parser of requests. */
function inText(moment: unknown): unknown {
  return isDate(moment) ? Number(moment) : moment;
}

/** A media type without its parameters. Absent: the bytes decide. */
function mediaTypeOf(type: string | undefined): string {
  return type?.split(";")[0]?.trim().toLowerCase() ?? "application/octet-stream";
}
