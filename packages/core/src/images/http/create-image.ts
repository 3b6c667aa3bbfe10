import type { Call, Reply } from "../../contracts/call.ts";
import type { Renderer } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { clientAddress, clientKey } from "../../http/client.ts";
import { type AsyncPreference, parseAgent, parseAsyncPreference } from "../../http/request-headers.ts";
import type { OwnerGrant } from "../authorize.ts";
import { retryAfterMs } from "../library/find-image.ts";
import { readTicket, type UploadTerms } from "../library/upload-tickets.ts";
import { ALL_FORMATS, FORMATS } from "../record/formats.ts";
import {
  addedDetailsOf,
  detailsOf,
  formatUrl,
  type ImageDetails,
  isServable,
} from "../record/image-links.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { addImage, type NewImage } from "../uploads/add-image.ts";
import { claimName, digestOf, parseIdempotencyKey } from "../uploads/claims.ts";
import { baseUrl, type ImageContext, requireUtf8Query, ticketOf } from "./image-context.ts";
import { type ReceivedImage, type ReceiveTerms, receiveImage } from "./receive-image.ts";

/** Longest wait before 202. Proxies would time out on clients that ask for more. */
const MAX_WAIT_MS = 60_000;

/** The headers of a create request, parsed. */
interface CreateRequest {
  userAgent: string;
  grant: OwnerGrant | null;
  preference: AsyncPreference | null;
  ticket: UploadTerms | null;
}

/** `POST {base}/api/images.json` and `.txt`. */
export async function createImage(
  context: ImageContext,
  call: Call,
  suffix: "json" | "txt",
  limits: Record<string, string>,
): Promise<Reply> {
  const given = ticketOf(call);
  const ticket = given === null ? null : readTicket(context.library, given);
  const { record, isReplay, preference } = await receiveAndStore(context, call, receiveImage, ticket);
  const hasPin = ticket === null || (ticket.pin && !isReplay);
  const reply = createdReply(context, call, record, suffix, hasPin);
  const isPreferred = reply.status === 202 && preference !== null;
  const applied = isPreferred ? { "Preference-Applied": "respond-async" } : {};
  return { ...reply, headers: { ...reply.headers, ...applied, ...limits } };
}

/** An upload that was stored. */
interface StoredUpload {
  record: ImageRecord;
  /** Whether an earlier request with the same key stored it. */
  isReplay: boolean;
  preference: AsyncPreference | null;
}

/** Receives an upload and stores it as an image. @param ticket Replaces the permission of the host. */
export async function receiveAndStore(
  context: ImageContext,
  call: Call,
  receive: typeof receiveImage = receiveImage,
  ticket: UploadTerms | null = null,
): Promise<StoredUpload> {
  const { library, permissions, settings } = context;
  requireUtf8Query(call.search);
  const userAgent = call.headers["user-agent"];
  if (userAgent === undefined || userAgent.trim() === "") {
    throw new ServiceError("bad_request", "The User-Agent header is required");
  }
  const preference = parseAsyncPreference(call.headers.prefer);
  const idempotencyKey = parseIdempotencyKey(call.headers["idempotency-key"]);
  const grant = ticket === null ? await permissions.permitCreate(call) : grantOf(ticket);
  if (preference !== null) await library.jobs.requireRoom();
  // The holders of an owner's tickets must not take each other's turns, nor those of the owner.
  const client = grant === null || ticket !== null ? clientKey(call.clientIp) : `owner ${grant.owner}`;
  const request = { userAgent, grant, preference, ticket };
  const upload = context.uploads.open(client, settings.uploadIdleMs);
  try {
    const terms: ReceiveTerms = {
      maxBytes: Math.min(settings.maxUploadBytes, ticket?.maxBytes ?? Number.POSITIVE_INFINITY),
      types: ticket?.types,
      claimOf(file, content) {
        if (ticket !== null) return { name: ticket.claim, fingerprint: digestOf([file]), called: "ticket" };
        if (idempotencyKey === null) return null;
        const uploader = grant === null ? guestOf(call, userAgent) : [client];
        return { name: claimName(uploader, idempotencyKey), fingerprint: digestOf(content()) };
      },
    };
    const received = await receive(context, call, upload, terms);
    const { record, isReplay = false } =
      "made" in received
        ? { ...received.made, isReplay: true }
        : await addImage(library, received.file, () => newImage(context, call, received, request, client));
    return { record, isReplay, preference };
  } finally {
    upload.done();
  }
}

function grantOf({ owner, ownerLimits }: UploadTerms): OwnerGrant | null {
  return owner === undefined ? null : { owner, ...(ownerLimits && { limits: ownerLimits }) };
}

/**
 * A client without an owner. Its neighbours in a /64, and most of those behind one NAT, are other clients: the whole
 * address and the User-Agent count.
 */
function guestOf({ clientIp }: Call, userAgent: string): string[] {
  return [`client ${clientAddress(clientIp) ?? clientIp}`, userAgent];
}

/** All that is requested of an image. Throws `bad_request` for a fault in it. */
function newImage(
  { settings }: ImageContext,
  call: Call,
  received: ReceivedImage,
  { grant, preference, userAgent, ticket }: CreateRequest,
  client: string,
): NewImage {
  const { name, expiresAt, ...details } = received.details();
  return {
    facts: {
      ...details,
      name: ticket?.name ?? name,
      expiresAt: ticket?.expiresAt === undefined ? expiresAt : ticket.expiresAt,
      types: ticket?.types,
      agent: parseAgent(userAgent),
      owner: grant?.owner ?? null,
    },
    reservation: { claim: received.claim, limits: grant?.limits ?? settings.ownerLimits },
    patience: {
      waitMs: preference === null ? settings.asyncAfterMs : Math.min(preference.waitMs, MAX_WAIT_MS),
      acceptsWhenBusy: preference !== null,
      client,
      signal: call.signal,
    },
  };
}

/** The reply to an upload: 201 for a ready image, 202 for one that is still processed. Addresses are the same. */
function createdReply(
  context: ImageContext,
  call: Call,
  record: ImageRecord,
  suffix: "json" | "txt",
  hasPin: boolean,
): Reply {
  const base = baseUrl(context, call);
  const pin = context.library.pins.pinOf(record.id);
  const details: ImageDetails & { editUrl?: string } = hasPin
    ? addedDetailsOf(base, record, pin)
    : detailsOf(base, record);
  const { url } = details;
  const body = suffix === "txt" ? `${url}\n` : JSON.stringify(details);
  const headers = {
    "Content-Type": suffix === "txt" ? "text/plain; charset=utf-8" : "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    Location: url,
    Link: createdLinks(base, details, context.library.renderer),
    "X-Service-Image-Url": url,
    ...(details.editUrl !== undefined
      ? { "X-Service-Image-Edit-Url": details.editUrl, "X-Service-Image-Pin": pin }
      : {}),
    "X-Service-Image-Id": record.id,
  };
  if (record.processing === null) return { status: 201, headers, body };
  const retryAfter = String(retryAfterMs(record, context.settings.now()) / 1000);
  return { status: 202, headers: { ...headers, "Retry-After": retryAfter }, body };
}

/** `Link` of a new image (RFC 8288, which replaced RFC 5988): record, alternate formats, edit form. */
function createdLinks(
  base: string,
  details: ImageDetails & { editUrl?: string },
  renderer: Renderer,
): string {
  const links = [`<${details.links.json}>; rel="describedby"; type="application/json"`];
  for (const format of ALL_FORMATS) {
    if (!isServable(renderer, details, format)) continue;
    links.push(`<${formatUrl(base, details.id, format)}>; rel="alternate"; type="${FORMATS[format].type}"`);
  }
  if (details.editUrl !== undefined) links.push(`<${details.editUrl}>; rel="edit-form"`);
  return links.join(", ");
}
