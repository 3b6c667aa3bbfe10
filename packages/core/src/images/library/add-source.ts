import { setTimeout as delay } from "node:timers/promises";
import { isDate } from "node:util/types";
import type { SpooledFile } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import type * as rules from "../../option-rules.ts";
import { checkOwnerLimits } from "../image-settings.ts";
import { isClaimed } from "../processing/lease.ts";
import { expiryAfter, nameOfFile, parseDescription, parseExpiry, parseName } from "../record/image-fields.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { unknownImage } from "../record/image-state.ts";
import { parseFocus } from "../record/picture-point.ts";
import { HOST_CLIENT } from "../renditions/render-gate.ts";
import { addImage, type ReservationRequest } from "../uploads/add-image.ts";
import { claimName, digestOf, parseIdempotencyKey } from "../uploads/claims.ts";
import { temporaryPath } from "../uploads/uploaded-file.ts";
import type { ADD_RULES } from "./image-library.ts";
import { importUrl, parseImportUrl } from "./import-url.ts";
import type { LibraryContext } from "./library-context.ts";
import { type ImageSource, isUrlSource, spoolSource } from "./spool-source.ts";

/** Interval in milliseconds for checking whether an image of another call is ready. */
const POLL_MS = 250;

type CheckedAdd = rules.Checked<typeof ADD_RULES>;

/**
 * Adds an image in code, see {@link ImageLibrary.add}.
 * @param closing Aborts the wait for another call when the service closes.
 */
export async function addSource(
  context: LibraryContext,
  closing: AbortSignal,
  source: ImageSource,
  given: CheckedAdd,
): Promise<CurrentRecord> {
  const { settings } = context;
  const { owner, signal = neverAborted() } = given;
  const name = parseName(given.name);
  const expiresAt = parseExpiry(inText(given.expiresAt), "code", settings.now(), settings);
  const focus = parseFocus(given.focus) ?? undefined;
  const description = parseDescription(given.description) ?? undefined;
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
    if (description !== undefined) asked.push(`description ${description}`);
    return { name: claimName([uploader], key), fingerprint: digestOf(asked) };
  };
  const received = await receive(context, source, { declaredType, signal, claimOf });
  const ready = (made: CurrentRecord) => whenReady(context, made, AbortSignal.any([signal, closing]));
  if ("made" in received) return given.wait ? ready(received.made) : received.made;
  const { file, claim } = received;
  const current = await addImage(context, file, () => {
    const createdAt = settings.now();
    return {
      facts: {
        name: name ?? nameOfFile(file.name),
        createdAt,
        expiresAt: expiresAt === undefined ? expiryAfter(createdAt, settings.defaultLifetimeMs) : expiresAt,
        focus,
        description,
        agent: null,
        owner: owner ?? null,
        called: { file: "The file", declaredType: "type" },
      },
      reservation: { claim, limits },
      patience: {
        waitMs: given.wait ? null : 0,
        acceptsWhenBusy: !given.wait,
        client: HOST_CLIENT,
        call: null,
        signal,
      },
    };
  });
  return given.wait ? ready(current) : current;
}

/** The bytes of a source, and the claim of its idempotency key; or the image that an earlier call with it stored. */
async function receive(
  context: LibraryContext,
  source: ImageSource,
  {
    declaredType,
    signal,
    claimOf,
  }: {
    declaredType: string;
    signal: AbortSignal;
    claimOf(content: string): ReservationRequest["claim"];
  },
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
  const { maxUploadBytes: maxBytes } = context.settings;
  const file = await spoolSource(source, { path, declaredType, maxBytes, signal });
  return { file, claim: claimOf(file.sha256) };
}

/** Waits until an image is processed, ready or held, that an earlier call with the same idempotency key stored. */
async function whenReady(
  context: LibraryContext,
  added: CurrentRecord,
  ended: AbortSignal,
): Promise<CurrentRecord> {
  for (let current: CurrentRecord | null = added; current !== null; ) {
    const { record } = current;
    const { failure, gone, processing } = record;
    if (failure !== null) throw new ServiceError("unsupported_media", failure);
    if (processing === null || gone !== null) return current;
    if (!isClaimed(processing, context.settings.now())) context.jobs.enqueue(record);
    await delay(POLL_MS, undefined, { signal: ended }).catch(() => ended.throwIfAborted());
    current = await context.records.load(record.id, ended);
  }
  throw unknownImage();
}

/** A media type without its parameters. Absent: the bytes decide. */
function mediaTypeOf(type: string | undefined): string {
  return type?.split(";")[0]?.trim().toLowerCase() ?? "application/octet-stream";
}

/** A new signal for each call: many listeners on one signal would look like a leak. */
export function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

/** Converts a date for the parser of requests. */
export function inText(moment: unknown): unknown {
  return isDate(moment) ? Number(moment) : moment;
}
