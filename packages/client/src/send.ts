import type { ClientSettings } from "./client-options.ts";
import { OutriggerError } from "./outrigger-error.ts";
import { readRefusal } from "./read-refusal.ts";
import { isObject, type Reply, readReply } from "./reply.ts";

/** One request, to be tried as often as needed. */
export interface Sending {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  url: string;
  headers?: Readonly<Record<string, string>>;
  body?: BodyInit;
  signal?: AbortSignal | undefined;
}

/** One try by `fetch`: the reply, read to its end, or why there is none. Rejects with the reason of the signal. */
export function send(settings: ClientSettings, sending: Sending): Promise<Reply | OutriggerError> {
  return sendAnd(settings, sending, readReply);
}

/** One try, as {@link send} does it, whose reply is read as the caller likes. */
export async function sendAnd<R>(
  settings: ClientSettings,
  sending: Sending,
  read: (response: Response) => Promise<R>,
): Promise<R | OutriggerError> {
  const { url, signal } = sending;
  // Outside: what could not be sent is the caller's mistake and no failure of the network.
  const init = initOf(settings, sending);
  try {
    return await read(visible(await settings.fetch(url, init)));
  } catch (error) {
    signal?.throwIfAborted();
    const failure = noReply(url, error);
    // Of a stream that is all that there is to hear of a redirection. It would be the same each time.
    if (/unexpected redirect/i.test(failure.detail)) throw readRefusal(redirection());
    return failure;
  }
}

/**
 * Node's `fetch` keeps a copy of all that it has sent, lest it has to send it again, unless nothing can make it: no user who
 * could be asked, and no redirection. With credentials a 401 would be a failure of the network.
 */
const STREAMING: RequestInit & { duplex: "half" } = {
  // What the Fetch standard wants with streams; the DOM's types do not have it yet.
  duplex: "half",
  credentials: "omit",
  redirect: "error",
  window: null,
};

function initOf(settings: ClientSettings, { method, headers = {}, body, signal }: Sending): RequestInit {
  const isStream = body instanceof ReadableStream;
  const init: RequestInit = {
    method,
    headers: withHeaders(settings.headers, headers),
    // Not followed: a PIN or a key is not for whoever is named there.
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
    ...(isStream ? STREAMING : {}),
    ...(signal === undefined ? {} : { signal }),
  };
  return init;
}

/** Of a redirection browsers do not tell where it leads. */
function visible(response: Response): Response {
  return response.type === "opaqueredirect" ? new Response(null, { status: 302 }) : response;
}

/** One that leads to nobody knows where. */
function redirection(): Reply {
  return { status: 302, statusText: "", headers: new Headers(), text: "" };
}

export function withHeaders(common: Headers, own: Readonly<Record<string, string>>): Headers {
  const all = new Headers(common);
  for (const [name, value] of Object.entries(own)) all.set(name, value);
  return all;
}

/** The error that a failure of the network is. */
export function noReply(url: string, cause: unknown): OutriggerError {
  const detail = `No whole reply from ${new URL(url).origin}: ${reasonOf(cause)}`;
  return new OutriggerError({ status: 0, title: "No reply", detail, cause });
}

/** The innermost reason: Node wraps what the operating system says. */
function reasonOf(cause: unknown): string {
  // Not by class: what fetch fails with may be of another realm.
  if (!isObject(cause)) return String(cause);
  if (isObject(cause.cause)) return reasonOf(cause.cause);
  return String(cause.message || cause.code || cause.name);
}
