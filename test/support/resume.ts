import { once } from "node:events";
import { connect } from "node:net";
import { Upload, type UploadOptions } from "tus-js-client";
import type { Host } from "./listen.ts";

/** What the client of tus reported at the end. */
export interface Sent {
  /** Status and headers of the last reply. */
  status: number;
  header(name: string): string | undefined;
  /** Address of the upload. */
  url: string;
}

/** Sends a file with tus-js-client. Rejects as the client does. */
export function sendByTus(
  { base }: Pick<Host, "base">,
  bytes: Buffer,
  { metadata = {}, ...options }: Partial<UploadOptions> = {},
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(bytes, {
      endpoint: `${base}/api/uploads`,
      metadata: { filename: "picture.jpg", filetype: "image/jpeg", ...metadata },
      headers: { "User-Agent": "OutriggerTest/1.0" },
      retryDelays: [0, 100, 200, 400, 800],
      onError: reject,
      onSuccess({ lastResponse }) {
        const header = (name: string) => lastResponse.getHeader(name);
        resolve({ status: lastResponse.getStatus(), header, url: upload.url ?? "" });
      },
      ...options,
    });
    upload.start();
  });
}

/** Sends one request of tus, without a client that retries. */
export function tus(
  method: string,
  url: string,
  headers: Record<string, string> = {},
  body?: Uint8Array,
): Promise<Response> {
  const piece = body === undefined ? {} : { "Content-Type": "application/offset+octet-stream" };
  return fetch(url, {
    method,
    headers: { "Tus-Resumable": "1.0.0", "User-Agent": "OutriggerTest/1.0", ...piece, ...headers },
    ...(body === undefined ? {} : { body: new Uint8Array(body) }),
  });
}

/** Begins an upload. @returns its address. */
export async function beginByTus(
  { base }: Pick<Host, "base">,
  size: number,
  type = "image/jpeg",
): Promise<string> {
  const metadata = `filename ${btoa("picture.jpg")},filetype ${btoa(type)}`;
  const reply = await tus("POST", `${base}/api/uploads`, {
    "Upload-Length": String(size),
    "Upload-Metadata": metadata,
  });
  if (reply.status !== 201) throw new Error(`${reply.status}: ${await reply.text()}`);
  return reply.headers.get("Location") ?? "";
}

/** Sends a piece, announced as larger than it is, and cuts the connection after its last byte. */
export async function sendCut(
  url: string,
  offset: number,
  piece: Uint8Array,
  announced: number,
): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(
    `PATCH ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nTus-Resumable: 1.0.0\r\nUser-Agent: Test/1\r\n` +
      `Content-Type: application/offset+octet-stream\r\nUpload-Offset: ${offset}\r\nContent-Length: ${announced}\r\n\r\n`,
  );
  await new Promise<void>((resolve, reject) =>
    socket.write(piece, (error) => (error ? reject(error) : resolve())),
  );
  await new Promise((resolve) => setTimeout(resolve, 100));
  socket.destroy();
  await once(socket, "close");
}

/**
 * Sends the first `cut` bytes of a file over connections that break. A break loses what the service has not read yet: that is sent
 * again, from the offset that the service tells.
 */
export async function storeUpTo(url: string, file: Uint8Array, cut: number): Promise<void> {
  for (;;) {
    const offset = (await tus("HEAD", url)).headers.get("upload-offset");
    if (offset === String(cut)) return;
    // No offset: the broken request still holds the upload.
    if (offset !== null)
      await sendCut(url, Number(offset), file.subarray(Number(offset), cut), file.length - Number(offset));
  }
}
