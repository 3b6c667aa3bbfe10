import { isLocalStore } from "../../contracts/blob-store.ts";
import type { Call, Reply, Upload, UploadTurn } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import { parseAgent } from "../../http/agent.ts";
import { clientAddress, clientKey } from "../../http/client-key.ts";
import { type AsyncPreference, parseAsyncPreference } from "../../http/prefer.ts";
import type { OwnerGrant } from "../authorize.ts";
import { addImage, type NewImage } from "../library/add-image.ts";
import { nameOfFile, parseExpiry, parseName } from "../record/image-fields.ts";
import { parseFocus } from "../record/picture-point.ts";
import { claimName, digestOf, parseIdempotencyKey } from "../uploads/idempotency-key.ts";
import { createdReply } from "./created-reply.ts";
import type { ImageContext } from "./image-context.ts";
import { requireUtf8Query } from "./read-body.ts";

/** Name of the form field for the file. */
export const FILE_FIELD = "imagedata";
const MAX_FIELDS = 16;
const MAX_FIELD_BYTES = 8 * 1024;
/** Longest wait before 202. Proxies would time out on clients that ask for more. */
const MAX_WAIT_MS = 60_000;

/** The headers of a create request, parsed. */
interface CreateRequest {
  userAgent: string;
  grant: OwnerGrant | null;
  idempotencyKey: string | null;
  preference: AsyncPreference | null;
  /** To which the idempotency key belongs. */
  uploader: readonly string[];
}

/** `POST {base}/api/images.json` and `.txt`. */
export async function createImage(
  context: ImageContext,
  call: Call,
  suffix: "json" | "txt",
  limits: Record<string, string>,
): Promise<Reply> {
  const { library, permissions } = context;
  requireUtf8Query(call.search);
  const userAgent = call.headers["user-agent"];
  if (userAgent === undefined || userAgent.trim() === "") {
    throw new ServiceError("bad_request", "The User-Agent header is required");
  }
  const preference = parseAsyncPreference(call.headers.prefer);
  const idempotencyKey = parseIdempotencyKey(call.headers["idempotency-key"]);
  const grant = await permissions.permitCreate(call);
  if (preference !== null) await library.jobs.requireRoom();
  // Before the first write: an image without a PIN could not be edited.
  const pins = await library.pins();
  const client = grant === null ? clientKey(call.clientIp) : `owner ${grant.owner}`;
  const uploader = grant === null ? guestOf(call, userAgent) : [client];
  const request = { userAgent, grant, idempotencyKey, preference, uploader };
  const turn = context.uploadTurns.turnOf(client, context.settings.uploadIdleMs);
  try {
    const received = await receiveInTurn(context, call, turn);
    const { record } = await addImage(library, received.file, () =>
      newImage(context, call, received, request, client),
    );
    const reply = createdReply(context, call, record, pins.pinOf(record.id), suffix);
    const isPreferred = reply.status === 202 && preference !== null;
    const applied = isPreferred ? { "Preference-Applied": "respond-async" } : {};
    return { ...reply, headers: { ...reply.headers, ...applied, ...limits } };
  } finally {
    turn.done();
  }
}

/**
 * A client without an owner. Its neighbours in a /64, and most of those behind one NAT, are other clients: the whole
 * address and the User-Agent count.
 */
function guestOf({ clientIp }: Call, userAgent: string): string[] {
  return [`client ${clientAddress(clientIp) ?? clientIp}`, userAgent];
}

/** Receives the body, waiting for a turn if many uploads arrive. */
async function receiveInTurn(
  { library, settings }: ImageContext,
  call: Call,
  turn: UploadTurn,
): Promise<Upload> {
  const { originals } = library;
  try {
    return await call.upload({
      fileField: FILE_FIELD,
      maxFileBytes: settings.maxUploadBytes,
      maxFields: MAX_FIELDS,
      maxFieldBytes: MAX_FIELD_BYTES,
      idleMs: settings.uploadIdleMs,
      minBytesPerSecond: settings.minUploadBytesPerSecond,
      turn,
      ...(isLocalStore(originals) ? { spoolDirectory: originals.spoolDirectory } : {}),
    });
  } finally {
    turn.end();
  }
}

/** Parses the form fields and the query. Throws `bad_request` for a fault in them. */
function newImage(
  { settings }: ImageContext,
  call: Call,
  received: Upload,
  request: CreateRequest,
  client: string,
): NewImage {
  const { file, fields } = received;
  const { grant, idempotencyKey, preference } = request;
  const now = settings.now();
  const query = new URLSearchParams(call.search);
  return {
    facts: {
      name: parseName(fields.name) ?? parseName(query.get("name")) ?? nameOfFile(file.name),
      createdAt: now,
      expiresAt:
        parseExpiry(fields.expiresAt, "form", now, settings) ??
        parseExpiry(query.get("expiresAt"), "query", now, settings) ??
        now + settings.defaultLifetimeMs,
      focus: parseFocus(fields.focus || (query.get("focus") ?? undefined)) ?? undefined,
      agent: parseAgent(request.userAgent),
      owner: grant?.owner ?? null,
      called: { file: FILE_FIELD, declaredType: "its Content-Type" },
    },
    reservation: {
      claim:
        idempotencyKey === null
          ? null
          : {
              name: claimName(request.uploader, idempotencyKey),
              fingerprint: fingerprintOf(call, received),
            },
      limits: grant?.limits ?? settings.ownerLimits,
    },
    patience: {
      waitMs: preference === null ? settings.asyncAfterMs : Math.min(preference.waitMs, MAX_WAIT_MS),
      acceptsWhenBusy: preference !== null,
      client,
      signal: call.signal,
    },
  };
}

/** A digest of the upload's bytes, fields and query. */
function fingerprintOf(call: Call, { file, fields }: Upload): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return digestOf([file.sha256, file.declaredType, file.name, call.search, JSON.stringify(sorted)]);
}
