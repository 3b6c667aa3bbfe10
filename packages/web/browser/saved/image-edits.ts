/** A change of a stored image. */
export interface ImageChange {
  name?: string;
  /** ISO 8601. */
  expiresAt?: string;
}

/** Result of a request: the image's data after it, or that the image no longer exists, or why it failed, in words. */
export type EditOutcome =
  | { kind: "saved"; name: string; expiresAt: string }
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
      return failed("The server cannot be reached. Check your connection and try again.");
    }
  }
  return {
    change: (change) => send({ method: "PATCH", body: JSON.stringify(change) }),
    remove: () => send({ method: "DELETE", keepalive: true }),
  };
}

async function outcomeOf(response: Response): Promise<EditOutcome> {
  const { status, headers } = response;
  if (status === 204 || status === 404 || status === 410) return { kind: "gone" };
  if (status === 403) return failed("The server did not accept the PIN that this browser saved.");
  if (status === 429) {
    const seconds = Number(headers.get("Retry-After"));
    return failed(`Too many requests. Try again in ${seconds > 0 ? `${seconds} s` : "a moment"}.`);
  }
  const body = await readObject(response);
  if (response.ok && typeof body.name === "string" && typeof body.expiresAt === "string") {
    return { kind: "saved", name: body.name, expiresAt: body.expiresAt };
  }
  if (response.ok) {
    return failed("The reply did not come from the image service. Check whether this network needs a login.");
  }
  return failed(
    typeof body.detail === "string"
      ? `The server says: “${body.detail.replace(/\.$/, "")}.”`
      : "Something went wrong on the server. Try again later.",
  );
}

function failed(reason: string): EditOutcome {
  return { kind: "failed", reason };
}

/** The JSON object in a reply; empty for any other body. */
async function readObject(response: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}
