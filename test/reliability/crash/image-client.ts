import { createHash } from "node:crypto";

/** A response received completely. */
export interface Answer {
  status: number;
  headers: Headers;
  body: Buffer;
}

export interface Ask {
  method?: string;
  headers?: Record<string, string>;
  body?: FormData | string;
}

/** Sends a request; `null` if the connection ended before the reply. */
export async function ask(
  url: string,
  { method = "GET", headers = {}, body }: Ask = {},
): Promise<Answer | null> {
  try {
    const response = await fetch(url, {
      method,
      headers: { "User-Agent": "Crash/1.0", ...headers },
      ...(body === undefined ? {} : { body }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: Buffer.from(await response.arrayBuffer()),
    };
  } catch (error) {
    // undici throws this when a connection cannot be opened, or was cut.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

export function upload(
  base: string,
  bytes: Buffer,
  fields: Record<string, string> = {},
): Promise<Answer | null> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  body.set("imagedata", new Blob([new Uint8Array(bytes)], { type: "image/png" }), "picture.png");
  return ask(`${base}/api/images.json`, { method: "POST", body });
}

export function edit(base: string, { id, pin }: Key, change: Record<string, string>): Promise<Answer | null> {
  return ask(recordUrl(base, id), {
    method: "PATCH",
    headers: { "Content-Type": "application/json", "X-Service-Image-Pin": pin },
    body: JSON.stringify(change),
  });
}

export function remove(base: string, { id, pin }: Key): Promise<Answer | null> {
  return ask(recordUrl(base, id), { method: "DELETE", headers: { "X-Service-Image-Pin": pin } });
}

/** The credentials that an owner needs to change an image. */
export interface Key {
  id: string;
  pin: string;
}

/** The key in the reply to a create. */
export function keyIn(answer: Answer): Key {
  const { id, pin } = JSON.parse(String(answer.body)) as Key; // As the protocol says; a test would fail at once.
  return { id, pin };
}

export function recordUrl(base: string, id: string): string {
  return `${base}/api/images/${id}.json`;
}

export function bytesUrl(base: string, id: string): string {
  return `${base}/api/images/${id}.png`;
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
