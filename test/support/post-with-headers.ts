import type { Host } from "./listen.ts";

/** Uploads a file with request headers of the test's own, such as `Prefer`. */
export function postWithHeaders(
  { base }: Pick<Host, "base">,
  bytes: Buffer,
  type: string,
  headers: Record<string, string>,
): Promise<Response> {
  const form = new FormData();
  form.set("imagedata", new Blob([new Uint8Array(bytes)], { type }), "picture");
  return fetch(`${base}/api/images.json`, {
    method: "POST",
    body: form,
    headers: { "User-Agent": "OutriggerTest/1.0", ...headers },
  });
}

/** Asks for an answer before the file is processed. */
export const RESPOND_ASYNC = { Prefer: "respond-async" };
