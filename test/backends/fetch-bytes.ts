/** The headers of a browser that requests a page. */
export const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

/** A reply with its whole body. */
export interface Fetched {
  status: number;
  headers: Headers;
  bytes: Buffer;
}

export async function fetchBytes(url: string, init?: RequestInit): Promise<Fetched> {
  const response = await fetch(url, init);
  const { status, headers } = response;
  return { status, headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** The body of a reply, parsed as JSON. */
export async function fetchJson(
  url: string,
  init?: RequestInit,
): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
  const { bytes, ...rest } = await fetchBytes(url, init);
  return { ...rest, body: JSON.parse(bytes.toString()) as Record<string, unknown> }; // The tests compare it.
}
