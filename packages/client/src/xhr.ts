import type { OutriggerError } from "./outrigger-error.ts";
import type { Reply } from "./reply.ts";
import { noReply } from "./send.ts";

export interface XhrUpload {
  url: string;
  headers: Headers;
  form: FormData;
  signal: AbortSignal | undefined;
  onSent(sentBytes: number, totalBytes: number): void;
}

/**
 * Sends an upload by XMLHttpRequest, the only API of browsers with upload progress. Resolves and rejects like `send`, and
 * rejects with errors of the listener.
 */
export function sendByXhr({
  url,
  headers,
  form,
  signal,
  onSent,
}: XhrUpload): Promise<Reply | OutriggerError> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const request = new XMLHttpRequest();
    const onAbort = () => {
      reject(signal?.reason);
      request.abort();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    request.upload.onprogress = ({ loaded, total }) => {
      try {
        onSent(loaded, total);
      } catch (error) {
        reject(error);
        request.abort();
      }
    };
    request.onload = () => resolve(replyOf(request));
    request.onerror = () =>
      resolve(
        noReply(url, "the network failed, or the server does not allow requests from this page (CORS)"),
      );
    request.ontimeout = request.onerror;
    request.onloadend = () => signal?.removeEventListener("abort", onAbort);
    request.open("POST", url);
    headers.forEach((value, name) => {
      request.setRequestHeader(name, value);
    });
    request.send(form);
  });
}

function replyOf(request: XMLHttpRequest): Reply {
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().trim().split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return { status: request.status, statusText: request.statusText, headers, text: request.responseText };
}
