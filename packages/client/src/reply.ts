import { OutriggerError } from "./outrigger-error.ts";

/** The reply to one request. */
export interface Reply {
  status: number;
  /** The reason phrase; empty if the protocol has none. */
  statusText: string;
  headers: Headers;
  /** The complete body; of a refusal only its first 64 KiB. */
  text: string;
}

/** Most bytes read from a refusal, which may be a large page of a proxy. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Reads the body; rejects if it is truncated. */
export async function readReply(response: Response): Promise<Reply> {
  const text = response.ok ? await response.text() : await readStart(response.body);
  return { status: response.status, statusText: response.statusText, headers: response.headers, text };
}

async function readStart(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  for (let bytes = 0; bytes < MAX_REFUSAL_BYTES; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}

/** The JSON object in a reply. Throws for any other body, which does not come from the service. */
export function parseJsonReply(reply: Reply): Record<string, unknown> {
  const value = isJson(reply.headers) ? parseObject(reply.text) : null;
  if (value !== null) return value;
  throw unexpectedReply(reply);
}

/** The error for a successful reply of another form than that of the service. */
export function unexpectedReply({ status }: Reply): OutriggerError {
  return new OutriggerError({
    status,
    title: "Unexpected reply",
    detail:
      "The reply does not come from the service. Check that baseUrl is the address at which it is mounted.",
  });
}

export function isJson(headers: Headers): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(headers.get("Content-Type") ?? "");
}

/** Parses a JSON object; `null` for any other text. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    // An object with unknown content.
    return isObject(value) ? value : null;
  } catch {
    // The text is not JSON.
    return null;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
