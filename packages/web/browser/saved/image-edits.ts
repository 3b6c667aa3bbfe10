import { readObject, refusalText, STRANGE_REPLY, UNREACHABLE } from "./refusal-text.ts";

/** A change of a stored image. */
export interface ImageChange {
  name?: string;
  /** ISO 8601. */
  expiresAt?: string;
}

/** Result of a request: the image's data after it, or that the image no longer exists, or why it failed, in words. */
export type EditOutcome =
  | { kind: "saved"; name: string; expiresAt: string | null }
  | { kind: "gone" }
  | { kind: "failed"; reason: string };

/** Requests for one image. They never reject. */
export interface ImageEdits {
  change(change: ImageChange): Promise<EditOutcome>;
  /** Deletes the image. The browser finishes the request also when the page is left. */
  remove(): Promise<EditOutcome>;
}

export interface ImageEditsOptions {
  /** URL of the mount point on the page's own origin, without a trailing slash. */
  baseUrl: string;
  id: string;
  pin: string;
}

export function createImageEdits({ baseUrl, id, pin }: ImageEditsOptions): ImageEdits {
  async function send(init: RequestInit): Promise<EditOutcome> {
    const headers = { "Content-Type": "application/json", "X-Service-Image-Pin": pin };
    try {
      return await outcomeOf(await fetch(`${baseUrl}/api/images/${id}.json`, { ...init, headers }));
    } catch {
      return failed(UNREACHABLE);
    }
  }
  return {
    change: (change) => send({ method: "PATCH", body: JSON.stringify(change) }),
    remove: () => send({ method: "DELETE", keepalive: true }),
  };
}

async function outcomeOf(response: Response): Promise<EditOutcome> {
  const { status, ok } = response;
  if (status === 204 || status === 404 || status === 410) return { kind: "gone" };
  if (status === 403) return failed("The server did not accept the PIN that this browser saved.");
  if (!ok) return failed(await refusalText(response));
  const { name, expiresAt } = await readObject(response);
  if (typeof name === "string" && (typeof expiresAt === "string" || expiresAt === null)) {
    return { kind: "saved", name, expiresAt };
  }
  return failed(STRANGE_REPLY);
}

function failed(reason: string): EditOutcome {
  return { kind: "failed", reason };
}
