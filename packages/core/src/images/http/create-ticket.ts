import { checkOptions, optionProblems } from "../../check-options.ts";
import type { Call, Reply } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import { textReply } from "../../http/text-reply.ts";
import { issueTicket, REQUEST_RULES, readTicket, TICKET_RULES } from "../library/upload-tickets.ts";
import { NEVER } from "../record/image-fields.ts";
import { baseUrl, type ImageContext, isJson, MAX_BODY_BYTES, ticketOf } from "./image-context.ts";

/** `POST {base}/api/tickets.json`: a ticket for an upload that this client could make itself. */
export async function createTicket(context: ImageContext, call: Call): Promise<Reply> {
  const { library, permissions, settings } = context;
  const { owner, limits: ownerLimits } = (await permissions.permitCreate(call)) ?? {};
  const given = await sentTerms(call, settings.uploadIdleMs);
  const checked = checkOptions("ticket", { ...given, owner, ownerLimits }, TICKET_RULES);
  const body = JSON.stringify(issueTicket(library, baseUrl(context, call), checked, "json"));
  return textReply(call, 200, "application/json", body, { "Cache-Control": "no-store" });
}

/** `GET {base}/api/tickets.json`: what a ticket fixes, and whether it was used. */
export async function readTerms({ library, settings }: ImageContext, call: Call): Promise<Reply> {
  const terms = readTicket(library, ticketOf(call) ?? "");
  if (terms.expired) throw terms.expired;
  const { untilMs, expiresAt, name = null, types = null, maxBytes = null } = terms;
  const body = JSON.stringify({
    until: new Date(untilMs).toISOString(),
    // In a record, `null` is no expiry. Here it is none that is fixed.
    expiresAt:
      expiresAt === null ? NEVER : expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    name,
    types,
    maxBytes: maxBytes && Math.min(maxBytes, settings.maxUploadBytes),
    used: await library.claims.isUsed(terms.claim),
  });
  return textReply(call, 200, "application/json", body, { "Cache-Control": "no-store" });
}

/** The terms in the body; none without one. Rejects with `bad_request` for a fault in them. Other names are ignored. */
async function sentTerms(call: Call, idleMs: number): Promise<object> {
  // Headers need not announce a body: over HTTP/2 it may have no length.
  const body = await call.fields({ maxBytes: MAX_BODY_BYTES, idleMs });
  if (body === null) return {};
  if (!isJson(call)) throw new ServiceError("unsupported_media", "The body must be a JSON object");
  const given = Object.fromEntries(Object.keys(REQUEST_RULES).map((name) => [name, body[name]]));
  const [problem] = optionProblems(given, REQUEST_RULES);
  if (problem !== undefined) throw new ServiceError("bad_request", `${problem.path} ${problem.text}`);
  return given;
}
