/** What this browser keeps of an image that it uploaded. */
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

/** The image in a reply to a create, and whether it can be served yet; `null` for what is none. */
export function readCreated(body: unknown): { image: SavedImage; isReady: boolean } | null {
  const image = readSaved(body);
  if (image === null) return null;
  return { image, isReady: !(isObject(body) && body.status === "processing") };
}

/** `null` for anything but a saved image: other programs may write where this one reads. */
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
