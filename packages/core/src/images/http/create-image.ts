import type { Call, Reply } from "../../contracts/call.ts";
import type { Renderer } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { clientAddress, clientKey, loggedClient } from "../../http/client.ts";
import {
  type AsyncPreference,
  parseAgent,
  parseAsyncPreference,
  requestIdOf,
} from "../../http/request-headers.ts";
import { textReply } from "../../http/text-reply.ts";
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
import type { CheckedGrant } from "./permissions.ts";
import { type ReceivedImage, type ReceiveTerms, receiveImage } from "./receive-image.ts";

/** Longest wait before 202. Proxies would time out on clients that ask for more. */
const MAX_WAIT_MS = 60_000;

/** The headers of a create request, parsed. */
interface CreateRequest {
  userAgent: string;
  grant: CheckedGrant | null;
  preference: AsyncPreference | null;
  ticket: UploadTerms | null;
}

/** `POST {base}/api/images.json` and `.txt`. */
export async function createImage(context: ImageContext, call: Call, suffix: "json" | "txt"): Promise<Reply> {
  const { record, hasPin, preference } = await receiveAndStore(context, call);
  return createdReply(context, call, record, suffix, hasPin, preference);
}

/** An upload that was stored. */
interface StoredUpload {
  record: ImageRecord;
  /** Whether the reply has the PIN: that to a ticket has it only the first time, and only by its terms. */
  hasPin: boolean;
  preference: AsyncPreference | null;
}

/** Receives an upload and stores it as an image. */
export async function receiveAndStore(
  context: ImageContext,
  call: Call,
  receive: typeof receiveImage = receiveImage,
  permit: typeof permitUpload = permitUpload,
): Promise<StoredUpload> {
  const { library, settings } = context;
  requireUtf8Query(call.search);
  const userAgent = requireUserAgent(call);
  const preference = parseAsyncPreference(call.headers.prefer);
  const idempotencyKey = parseIdempotencyKey(call.headers["idempotency-key"]);
  const { ticket, grant } = await permit(context, call);
  // An expired ticket only repeats the reply to an upload.
  if (ticket?.expired && !(await library.claims.has(ticket.claim))) throw ticket.expired;
  if (preference !== null) await library.jobs.requireRoom();
  const client = uploaderOf(call, { ticket, grant });
  const request = { userAgent, grant, preference, ticket };
  const upload = context.uploads.open(client, settings.uploadIdleMs);
  try {
    const terms: ReceiveTerms = {
      maxBytes: Math.min(settings.maxUploadBytes, ticket?.maxBytes ?? Number.POSITIVE_INFINITY),
      types: ticket?.types,
      claimOf(file, content) {
        if (ticket !== null) {
          const { claim: name, expired } = ticket;
          return { name, fingerprint: digestOf([file]), called: "ticket", expired };
        }
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
    return { record, hasPin: ticket === null || (ticket.pin && !isReplay), preference };
  } finally {
    upload.done();
  }
}

/** What permits an upload. */
export interface UploadPermission {
  /** `null`: the host permits it. */
  ticket: UploadTerms | null;
  /** `null`: the image has no owner. */
  grant: CheckedGrant | null;
}

/** The permission of an upload: by the ticket in its query, which may have expired, else by the host. Rejects with `forbidden`. */
export async function permitUpload(context: ImageContext, call: Call): Promise<UploadPermission> {
  const given = ticketOf(call);
  if (given === null) return { ticket: null, grant: await context.permissions.permitCreate(call) };
  const ticket = readTicket(context.library, given);
  const { owner, ownerLimits } = ticket;
  return {
    ticket,
    grant: owner === undefined ? null : { owner, ...(ownerLimits && { limits: ownerLimits }) },
  };
}

/** The `User-Agent` of a create request. Throws `bad_request` without it. */
export function requireUserAgent({ headers }: Call): string {
  const userAgent = headers["user-agent"];
  if (userAgent !== undefined && userAgent.trim() !== "") return userAgent;
  throw new ServiceError("bad_request", "The User-Agent header is required");
}

/** The client that an upload counts for. */
export function uploaderOf({ clientIp }: Call, { ticket, grant }: UploadPermission): string {
  // The holders of an owner's tickets must not take each other's turns, nor those of the owner.
  return grant === null || ticket !== null ? clientKey(clientIp) : `owner ${grant.owner}`;
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
      call,
      signal: call.signal,
    },
    request: {
      requestId: requestIdOf(call),
      client: loggedClient(call.clientIp, settings.logClients),
    },
  };
}

/** The reply to an upload: 201 for a ready image, 202 for one that is still processed or held. Addresses are the same. */
export function createdReply(
  context: ImageContext,
  call: Call,
  record: ImageRecord,
  suffix: "json" | "txt",
  hasPin: boolean,
  preference: AsyncPreference | null = null,
): Reply {
  const base = baseUrl(context, call);
  const pin = context.library.pins.pinOf(record.id);
  const details: ImageDetails & { editUrl?: string } = hasPin
    ? addedDetailsOf(base, record, pin)
    : detailsOf(base, record);
  const { url } = details;
  const body = suffix === "txt" ? `${url}\n` : JSON.stringify(details);
  const type = suffix === "txt" ? "text/plain" : "application/json";
  const headers = {
    "Cache-Control": "no-store",
    Location: url,
    Link: createdLinks(base, details, context.library.renderer),
    "X-Service-Image-Url": url,
    ...(details.editUrl !== undefined
      ? { "X-Service-Image-Edit-Url": details.editUrl, "X-Service-Image-Pin": pin }
      : {}),
    "X-Service-Image-Id": record.id,
  };
  if (details.status === "ready") return textReply(call, 201, type, body, headers);
  const retryAfter = String(retryAfterMs(record, context.settings.now()) / 1000);
  const applied = preference === null ? {} : { "Preference-Applied": "respond-async" };
  return textReply(call, 202, type, body, { ...headers, "Retry-After": retryAfter, ...applied });
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
