import { refusalText, STRANGE_REPLY, UNREACHABLE } from "../../saved/refusal-text.ts";

/** A file from the service, or why there is none, in words. */
export type Received = { blob: Blob; name: string } | { reason: string };

const TIMEOUT_MS = 60_000;

/** Requests a file. Never rejects. @returns `null` after `cancel` */
export async function receiveFile(href: string, cancel: AbortSignal): Promise<Received | null> {
  const abort = new AbortController();
  const onCancel = () => abort.abort();
  cancel.addEventListener("abort", onCancel);
  let isLate = false;
  const timer = window.setTimeout(() => {
    isLate = true;
    abort.abort();
  }, TIMEOUT_MS);
  try {
    const response = await fetch(href, { signal: abort.signal });
    if (!response.ok) return { reason: await reasonOf(response) };
    if (!/^(?:image\/|application\/pdf)/.test(response.headers.get("Content-Type") ?? "")) {
      return { reason: STRANGE_REPLY };
    }
    const name = fileName(response.headers.get("Content-Disposition") ?? "");
    return { blob: await response.blob(), name };
  } catch {
    if (isLate) return { reason: "The server did not answer in time. Try again." };
    return cancel.aborted ? null : { reason: UNREACHABLE };
  } finally {
    window.clearTimeout(timer);
    cancel.removeEventListener("abort", onCancel);
  }
}

async function reasonOf(response: Response): Promise<string> {
  const isGone = [404, 410, 451].includes(response.status);
  return isGone ? "The image is no longer available." : refusalText(response);
}

/** The name in a `Content-Disposition` of the service; empty without one. */
function fileName(disposition: string): string {
  const [, encoded] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? [];
  if (encoded !== undefined) return decodeURIComponent(encoded);
  const [, quoted = ""] = /filename="((?:[^"\\]|\\.)*)"/.exec(disposition) ?? [];
  return quoted.replace(/\\(.)/g, "$1");
}
