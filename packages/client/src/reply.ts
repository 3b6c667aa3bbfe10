import { OutriggerError } from "./outrigger-error.ts";

/** What was answered to one try. */
export interface Reply {
  status: number;
  /** The reason phrase; empty where the protocol has none. */
  statusText: string;
  headers: Headers;
  /** The body, read to its end; of a refusal no more than is looked at. */
  text: string;
}

/** Of a page that a proxy puts in the way, more is not read. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Reads the body; rejects where it ends before its end. */
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

/** The JSON object that a reply holds. What is none comes from somebody else, and is refused. */
export function parseJsonReply(reply: Reply): Record<string, unknown> {
  const value = isJson(reply.headers) ? parseObject(reply.text) : null;
  if (value !== null) return value;
  throw new OutriggerError({
    status: reply.status,
    title: "Unexpected reply",
    detail: "What answered is not the service. Is baseUrl the address at which it is mounted?",
  });
}

export function isJson(headers: Headers): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(headers.get("Content-Type") ?? "");
}

/** `null` for what is no JSON object. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    // An object, whatever it holds.
    return isObject(value) ? value : null;
  } catch {
    // Not JSON: that is what was asked.
    return null;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
