import type { ClientSettings } from "./client-options.ts";
import { readRefusal } from "./read-refusal.ts";
import { repeat } from "./repeat.ts";
import { type Reply, readReply } from "./reply.ts";
import { noReply, sendAnd } from "./send.ts";
import { waitAsAsked } from "./wait-until-ready.ts";

/** An image in one of its formats. Whoever takes it reads `body` or cancels it. */
export interface Download {
  /** Media type. */
  type: string;
  /** Bytes; `null` where the reply does not say. */
  size: number | null;
  /** As the image is called; `null` where the reply does not say. */
  name: string | null;
  /** Fails with an `OutriggerError` where the reply is cut off, and with the signal's reason. */
  body: ReadableStream<Uint8Array>;
  /** Reads `body` to its end. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Opens an address, after waiting while what is there is processed. */
export async function download(
  settings: ClientSettings,
  url: string,
  signal: AbortSignal | undefined,
): Promise<Download> {
  const sending = { method: "GET", url, signal } as const;
  const attempt = () => sendAnd(settings, sending, readUnlessOk);
  for (;;) {
    const { reply } = await repeat(settings, { isRepeatable: true, signal }, attempt);
    if (reply.opened !== undefined) return describeDownload(reply.opened, url, signal);
    if (reply.status !== 202) throw readRefusal(reply);
    await waitAsAsked(settings, reply, signal);
  }
}

/** What was asked for is read by the caller, everything else here. */
async function readUnlessOk(opened: Response): Promise<Reply & { opened?: Response }> {
  if (opened.status !== 200) return readReply(opened);
  const { status, statusText, headers } = opened;
  return { status, statusText, headers, text: "", opened };
}

function describeDownload(response: Response, url: string, signal: AbortSignal | undefined): Download {
  const { headers } = response;
  const size = lengthOf(headers);
  const body = wholeBody(response.body ?? new Blob([]).stream(), { size, url, signal });
  return {
    type: headers.get("Content-Type") ?? "application/octet-stream",
    size,
    name: nameOf(headers.get("Content-Disposition")),
    body,
    bytes: async () => new Uint8Array(await new Response(body).arrayBuffer()),
  };
}

/** Of what is compressed on its way the length is not that of what is read. */
function lengthOf(headers: Headers): number | null {
  const length = headers.get("Content-Length") ?? "";
  return /^\d+$/.test(length) && !headers.has("Content-Encoding") ? Number(length) : null;
}

interface Expected {
  size: number | null;
  url: string;
  signal: AbortSignal | undefined;
}

/** The body, of which a part is a failure. */
function wholeBody(
  body: ReadableStream<Uint8Array>,
  { size, url, signal }: Expected,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let received = 0;
  async function read() {
    try {
      return await reader.read();
    } catch (error) {
      signal?.throwIfAborted();
      throw noReply(url, error);
    }
  }
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await read();
        if (!done) {
          received += value.length;
          return controller.enqueue(value);
        }
        if (size !== null && received !== size) {
          throw noReply(url, `${received} of ${size} bytes came`);
        }
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The file's name of a Content-Disposition (RFC 6266): the extended one, else the plain one. */
export function nameOf(disposition: string | null): string | null {
  if (disposition === null) return null;
  const [, extended] = /;\s*filename\*\s*=\s*UTF-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended);
    } catch {
      // Not UTF-8: the plain one is for such a case.
    }
  }
  const [, quoted, token] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? [];
  return quoted?.replace(/\\(.)/g, "$1") ?? token ?? null;
}
