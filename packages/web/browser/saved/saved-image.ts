/** Why the service does not serve an image: `missing` after its record was deleted too (404). */
export type Unavailable = "deleted" | "expired" | "withheld" | "missing";

/** The data that this browser saves about an image it uploaded. */
export interface SavedImage {
  id: string;
  name: string;
  /** Text for readers who do not see the image. Absent: none. */
  description?: string;
  /** Empty: the service omits it, as it may after an upload with a ticket. */
  pin: string;
  /** Absolute image URL, as the service gave it. */
  url: string;
  /** Media type of the original. */
  type: string;
  /** Media type of the upload that the service converted. Absent: it converted nothing. */
  source?: string;
  /** ISO 8601. `null`: never. */
  expiresAt: string | null;
  /** When its file was chosen, Unix milliseconds, to sort by. Absent: unknown. */
  chosenAt?: number;
  /** Unix milliseconds of the last reply of the service about the image. Absent: check it as soon as possible. */
  checkedAt?: number;
  /** Absent while the image is served. */
  unavailable?: Unavailable;
}

/** Address of the edit page, with the PIN. */
export function editAddress({ url, pin }: Pick<SavedImage, "url" | "pin">): string {
  return `${url}/edit?pin=${encodeURIComponent(pin)}`;
}

/** When an image expires, in Unix milliseconds. @param expiresAt ISO 8601; `null` gives `Infinity`: never. */
export function expiryMs(expiresAt: string | null): number {
  return expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
}

/** `null` for anything but a saved image: other programs can write to the same storage. */
export function readSaved(value: unknown): SavedImage | null {
  if (!isObject(value)) return null;
  const { id, name, pin = "", url, type, expiresAt } = value;
  const isWhole =
    typeof id === "string" &&
    typeof name === "string" &&
    typeof pin === "string" &&
    typeof url === "string" &&
    typeof type === "string" &&
    (typeof expiresAt === "string" || expiresAt === null);
  if (!isWhole || !/^https?:/.test(url) || Number.isNaN(expiryMs(expiresAt))) return null;
  return { id, name, pin, url, type, expiresAt, ...optionalParts(value) };
}

function optionalParts({
  description,
  source,
  chosenAt,
  checkedAt,
  unavailable,
}: Record<string, unknown>): Pick<
  SavedImage,
  "description" | "source" | "chosenAt" | "checkedAt" | "unavailable"
> {
  return {
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof source === "string" ? { source } : {}),
    ...(typeof chosenAt === "number" ? { chosenAt } : {}),
    ...(typeof checkedAt === "number" ? { checkedAt } : {}),
    ...(isUnavailable(unavailable) ? { unavailable } : {}),
  };
}

function isUnavailable(value: unknown): value is Unavailable {
  return value === "deleted" || value === "expired" || value === "withheld" || value === "missing";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
