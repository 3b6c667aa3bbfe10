/** The data that this browser saves about an image it uploaded. */
export interface SavedImage {
  id: string;
  name: string;
  pin: string;
  /** Absolute image URL, as the service gave it. */
  url: string;
  /** Media type of the original. */
  type: string;
  /** ISO 8601. */
  expiresAt: string;
}

/** The image in a reply to an upload, and whether it can be served yet; `null` for any other reply. */
export function readCreated(body: unknown): { image: SavedImage; isReady: boolean } | null {
  const image = readSaved(body);
  if (image === null) return null;
  return { image, isReady: !(isObject(body) && body.status === "processing") };
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
    typeof expiresAt === "string";
  if (!isWhole || !/^https?:/.test(url) || Number.isNaN(Date.parse(expiresAt))) return null;
  return { id, name, pin, url, type, expiresAt };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
