import type { ClientSettings } from "./client-options.ts";
import type { DownloadOptions } from "./image-types.ts";
import { failedReply, isHeld, notReady, requestUntilReady } from "./request.ts";

/** `Uint8Array<ArrayBuffer>`, which compilers before TypeScript 5.7 do not know by that name. */
export type OwnBytes = ReturnType<typeof Uint8Array.of>;

/** An image in one of its formats. The caller must read or cancel `body`. */
export interface Download {
  /** Media type. */
  type: string;
  /** Size in bytes; `null` if unknown. */
  size: number | null;
  /** Name of the image; `null` if unknown. */
  name: string | null;
  /** Fails with an `OutriggerError` if the reply is truncated, and with the reason of an aborted signal. */
  body: ReadableStream<Uint8Array>;
  /** Reads `body` to its end. */
  bytes(): Promise<OwnBytes>;
}

/** Opens an address, and first waits until the image is ready. Rejects with status 202 for an image that waits for review. */
export async function download(
  settings: ClientSettings,
  url: string,
  { signal, accept }: Pick<DownloadOptions, "signal" | "accept">,
): Promise<Download> {
  const sending = { url, headers: accept === undefined ? {} : { Accept: accept }, signal, isStreamed: true };
  const reply = await requestUntilReady(settings, sending);
  if (isHeld(reply)) throw notReady("The image waits for review");
  const { headers, body } = reply;
  const size = lengthOf(headers);
  const whole = wholeBody(body ?? new Blob([]).stream(), size, url, signal);
  return {
    type: headers.get("Content-Type") ?? "application/octet-stream",
    size,
    name: fileNameIn(headers.get("Content-Disposition")),
    body: whole,
    bytes: async () => new Uint8Array(await new Response(whole).arrayBuffer()),
  };
}

/** The length of the body; `null` if it is compressed, since Content-Length then counts other bytes. */
function lengthOf(headers: Headers): number | null {
  const length = headers.get("Content-Length") ?? "";
  return /^\d+$/.test(length) && !headers.has("Content-Encoding") ? Number(length) : null;
}

/** The body, which fails if it is truncated. */
function wholeBody(
  body: ReadableStream<Uint8Array>,
  size: number | null,
  url: string,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let received = 0;
  async function read() {
    try {
      return await reader.read();
    } catch (error) {
      signal?.throwIfAborted();
      throw failedReply(url, error).failure;
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
          throw failedReply(url, `${received} of ${size} bytes arrived`).failure;
        }
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The file name in a Content-Disposition (RFC 6266): the extended one, otherwise the plain one. */
export function fileNameIn(disposition: string | null): string | null {
  if (disposition === null) return null;
  const [, extended] = /;\s*filename\*\s*=\s*UTF-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended);
    } catch {
      // Not UTF-8: use the plain name instead.
    }
  }
  const [, quoted, token] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? [];
  return quoted?.replace(/\\(.)/g, "$1") ?? token ?? null;
}
