/** Why the service does not serve an image: `missing` after its record was deleted too (404). */
export type Unavailable = "deleted" | "expired" | "withheld" | "missing";

/** A removal that can be undone until `atMs`, in Unix milliseconds. */
export interface Leaving {
  /** `list`: only this browser forgets the image. `service`: the image is deleted for everyone. */
  from: "list" | "service";
  atMs: number;
}

/** What identifies an uploaded file. */
export interface SavedFile {
  /** File name; the image can have another one. */
  name: string;
  /** Bytes. */
  size: number;
  /** Hex. */
  sha256: string;
}

/** The data that this browser saves about an image it uploaded. */
export interface SavedImage {
  id: string;
  name: string;
  pin: string;
  /** Absolute image URL, as the service gave it. */
  url: string;
  /** Media type of the original. */
  type: string;
  /** ISO 8601. `null`: never. */
  expiresAt: string | null;
  /** Unix milliseconds of the last reply of the service about the image. Absent: check it as soon as possible. */
  checkedAt?: number;
  /** Absent while the image is served. */
  unavailable?: Unavailable;
  /** Absent unless the entry is about to be removed. */
  leaving?: Leaving;
  /** The uploaded file. Absent when unknown. */
  file?: SavedFile;
  /** ThumbHash in base64, unchecked. Absent when unknown. */
  placeholder?: string;
}

/** The image in a reply to an upload, and whether it can be served yet; `null` for any other reply. */
export function readCreated(body: unknown): { image: SavedImage; isReady: boolean } | null {
  const image = readSaved(body);
  if (image === null) return null;
  return { image, isReady: !(isObject(body) && body.status === "processing") };
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
  const { id, name, pin, url, type, expiresAt } = value;
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

type OptionalParts = Pick<SavedImage, "checkedAt" | "unavailable" | "leaving" | "file" | "placeholder">;

function optionalParts(value: Record<string, unknown>): OptionalParts {
  const { checkedAt, unavailable, leaving, file, placeholder } = value;
  const parts: OptionalParts = {};
  if (typeof checkedAt === "number") parts.checkedAt = checkedAt;
  if (isUnavailable(unavailable)) parts.unavailable = unavailable;
  if (isObject(leaving) && typeof leaving.atMs === "number") {
    parts.leaving = { from: leaving.from === "service" ? "service" : "list", atMs: leaving.atMs };
  }
  const savedFile = readFile(file);
  if (savedFile !== null) parts.file = savedFile;
  if (typeof placeholder === "string") parts.placeholder = placeholder;
  return parts;
}

function readFile(value: unknown): SavedFile | null {
  if (!isObject(value)) return null;
  const { name, size, sha256 } = value;
  const isWhole = typeof name === "string" && typeof size === "number" && typeof sha256 === "string";
  return isWhole ? { name, size, sha256 } : null;
}

function isUnavailable(value: unknown): value is Unavailable {
  return value === "deleted" || value === "expired" || value === "withheld" || value === "missing";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
