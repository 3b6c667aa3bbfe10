import type { ClientSettings } from "./client-options.ts";
import { OutriggerError } from "./outrigger-error.ts";
import { readRefusal } from "./read-refusal.ts";
import { isObject, type Reply, readReply } from "./reply.ts";

/** A request that may be sent several times. */
export interface Sending {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  url: string;
  headers?: Readonly<Record<string, string>>;
  body?: BodyInit;
  /** Whether a browser completes the request after its page is closed. */
  keepalive?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Sends a request once with `fetch`. Resolves with the complete reply or the network error. Rejects with the reason of an aborted signal. */
export function send(settings: ClientSettings, sending: Sending): Promise<Reply | OutriggerError> {
  return sendAnd(settings, sending, readReply);
}

/** Sends a request like {@link send}, but reads the reply with `read`. */
export async function sendAnd<R>(
  settings: ClientSettings,
  sending: Sending,
  read: (response: Response) => Promise<R>,
): Promise<R | OutriggerError> {
  const { url, signal } = sending;
  // Outside the try block: an invalid request is a mistake of the caller, not a network failure.
  const init = initOf(settings, sending);
  try {
    return await read(visible(await settings.fetch(url, init)));
  } catch (error) {
    signal?.throwIfAborted();
    const failure = noReply(url, error);
    // A streamed request shows a redirect only as this error. A retry would be redirected again.
    if (/unexpected redirect/i.test(failure.detail)) throw readRefusal(redirection());
    return failure;
  }
}

/**
 * Options that stop `fetch` of Node from buffering a streamed body for a second send. It buffers if a redirect or a prompt for
 * credentials is possible. With credentials, a 401 would be a network failure.
 */
const STREAMING: RequestInit & { duplex: "half" } = {
  // Required by the Fetch standard for streams; the DOM types lack it.
  duplex: "half",
  credentials: "omit",
  redirect: "error",
  window: null,
};

function initOf(
  settings: ClientSettings,
  { method, headers = {}, body, keepalive, signal }: Sending,
): RequestInit {
  const isStream = body instanceof ReadableStream;
  const init: RequestInit = {
    method,
    headers: withHeaders(settings.headers, headers),
    // Not followed: the target must not receive the PIN or the key.
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
    ...(isStream ? STREAMING : {}),
    ...(keepalive === undefined ? {} : { keepalive }),
    ...(signal === undefined ? {} : { signal }),
  };
  return init;
}

/** Browsers hide the target of a redirect. */
function visible(response: Response): Response {
  return response.type === "opaqueredirect" ? new Response(null, { status: 302 }) : response;
}

/** A redirect to an unknown target. */
function redirection(): Reply {
  return { status: 302, statusText: "", headers: new Headers(), text: "" };
}

export function withHeaders(common: Headers, own: Readonly<Record<string, string>>): Headers {
  const all = new Headers(common);
  for (const [name, value] of Object.entries(own)) all.set(name, value);
  return all;
}

/** The error for a network failure. */
export function noReply(url: string, cause: unknown): OutriggerError {
  const detail = `No complete reply from ${new URL(url).origin}: ${reasonOf(cause)}`;
  return new OutriggerError({ status: 0, title: "No reply", detail, cause });
}

/** The message of the innermost cause: Node wraps the error of the operating system. */
function reasonOf(cause: unknown): string {
  // Not checked by class: the error may come from another realm.
  if (!isObject(cause)) return String(cause);
  if (isObject(cause.cause)) return reasonOf(cause.cause);
  return String(cause.message || cause.code || cause.name);
}
