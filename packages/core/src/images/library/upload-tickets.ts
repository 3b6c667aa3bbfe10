import { ServiceError } from "../../errors.ts";
import * as rules from "../../option-rules.ts";
import { checkOwnerLimits } from "../image-settings.ts";
import { CONVERTIBLE, ORIGINAL_TYPES, uploadTypeOf } from "../record/formats.ts";
import { type DateSource, parseExpiry, parseName } from "../record/image-fields.ts";
import { claimName } from "../uploads/claims.ts";
import { inText } from "./add-source.ts";
import { ADD_RULES, type Moment } from "./image-library.ts";
import type { LibraryContext } from "./library-context.ts";

/** Shorter than the time for which a used ticket is known. */
export const MAX_TICKET_MS = 12 * 3_600_000;
/** A ticket is accepted this long after its end: the clocks of two processes may differ. */
const SKEW_MS = 30_000;
/** Longer than any ticket. */
const MAX_TICKET_LENGTH = 8192;

/** The options that a client may set too. */
export const REQUEST_RULES = {
  /** How long the ticket may be used: milliseconds, or text such as "30s", "10m" or "12h". 1 s to 12 h. @default "10m" */
  expiresIn: rules.preset("10m", rules.time(1000, MAX_TICKET_MS)),
  /** Largest file in bytes. @default `maxUploadBytes`, which also limits it */
  maxBytes: rules.size(1),
  /** Media types that the file may have, such as `["image/png"]`. @default all types that the service accepts */
  types: rules.texts("a list of at least one media type, such as image/png", () => true, 1),
  /** Name of the image, 1 to 255 characters, whatever the upload says. @default the name in the upload, else its file name */
  name: rules.any<string>(),
  /** Expiry of the image, whatever the upload says. After the end of the ticket. `null`: never. @default as for every upload */
  expiresAt: rules.any<Moment | null>(),
  /** Whether the reply to the upload has the PIN and the edit URL. @default false */
  pin: rules.preset(false, rules.flag()),
};

export const TICKET_RULES = { ...REQUEST_RULES, ...rules.pick(ADD_RULES, ["owner", "ownerLimits"]) };

type CheckedTicket = rules.Checked<typeof TICKET_RULES>;

/** What an upload ticket permits. */
export interface TicketOptions extends rules.Options<typeof TICKET_RULES> {}

/** An address to which one image can be uploaded, without any other permission. */
export interface UploadTicket {
  /** For `POST`, like `{base}/api/images.json`. A secret. */
  url: string;
  /** End of the ticket: ISO 8601 in UTC. */
  until: string;
}

/** The terms of an upload with a ticket. */
export type UploadTerms = ReturnType<typeof termsOf> & {
  /** Name of the claim that its first upload makes. */
  claim: string;
  /** `forbidden`, with its `reason`, for an upload that begins after the end. `undefined`: it has not expired. */
  expired: ServiceError | undefined;
};

/**
 * Makes a ticket. Throws `bad_request` for a type that is not accepted, and for a name or an expiry out of range.
 * @param base The mount point, without a trailing slash.
 * @param source `code`: the host app, which may always keep an image for ever.
 */
export function issueTicket(
  { settings, reads }: LibraryContext,
  base: string,
  given: CheckedTicket,
  source: DateSource | "code",
): UploadTicket {
  const terms = termsOf(given, source, settings);
  const ticket = reads.signatures.seal(JSON.stringify(terms));
  return { url: `${base}/api/images.json?ticket=${ticket}`, until: new Date(terms.untilMs).toISOString() };
}

/** What is sealed in a ticket. Times are Unix milliseconds. */
function termsOf(
  { expiresIn, types, name, expiresAt: expiry, ownerLimits, ...others }: CheckedTicket,
  source: DateSource | "code",
  settings: LibraryContext["settings"],
) {
  const now = settings.now();
  const untilMs = now + expiresIn;
  const expiresAt = parseExpiry(inText(expiry), source, now, settings);
  if (typeof expiresAt === "number" && expiresAt <= untilMs + SKEW_MS) {
    throw new ServiceError(
      "bad_request",
      "expiresAt must be at least 30 seconds after the end of the ticket",
    );
  }
  return {
    ...others,
    untilMs,
    types: types && [...new Set(types.map((type) => acceptedType(type, settings.convertUploads)))],
    name: parseName(name),
    expiresAt,
    ownerLimits: ownerLimits && checkOwnerLimits("ownerLimits of ticket", ownerLimits),
  };
}

/** The terms of a ticket, also of an expired one. Throws `forbidden`, with its `reason`, for a ticket that is not valid. */
export function readTicket({ settings, reads }: LibraryContext, ticket: string): UploadTerms {
  const text = ticket.length > MAX_TICKET_LENGTH ? null : reads.signatures.unseal(ticket);
  if (text === null) {
    const message = "The ticket is not valid: it is incomplete or changed, or another service made it";
    throw new ServiceError("forbidden", message, { reason: "ticket_invalid" });
  }
  const terms = JSON.parse(text) as ReturnType<typeof termsOf>; // Sealed by `issueTicket`.
  const message = `The ticket expired at ${new Date(terms.untilMs).toISOString()}. Ask for a new one.`;
  const isExpired = settings.now() > terms.untilMs + SKEW_MS;
  const expired = isExpired
    ? new ServiceError("forbidden", message, { reason: "ticket_expired" })
    : undefined;
  return { ...terms, claim: claimName(["ticket"], ticket), expired };
}

/** The type that a media type of a ticket names. */
function acceptedType(named: string, convertible: readonly (keyof typeof CONVERTIBLE)[]): string {
  const accepted: string[] = [...ORIGINAL_TYPES, ...convertible.map((name) => CONVERTIBLE[name][0])];
  const type = uploadTypeOf(named.toLowerCase());
  if (type !== undefined && accepted.includes(type)) return type;
  throw new ServiceError("bad_request", `types must be of ${accepted.join(", ")}`);
}
