import { createKeptUploads, type KeptUpload } from "../saved/kept-uploads.ts";

/** The part of a worker's `FetchEvent` that is used: the types of pages have none. */
interface FetchEvent extends Event {
  request: Request;
  respondWith(reply: Promise<Response>): void;
}

interface WorkerScope {
  skipWaiting(): Promise<void>;
}

/** Name of the form field in the manifest's `share_target`. */
const FIELD = "images";
const MAX_FILES = 100;

const baseUrl = new URL(".", location.href).href.replace(/\/$/, "");
const kept = createKeptUploads(baseUrl);

addEventListener("install", () => {
  void (globalThis as unknown as WorkerScope).skipWaiting(); // The script runs in a worker only.
});

addEventListener("fetch", (event) => {
  const { request, respondWith } = event as FetchEvent; // By the name of the event.
  const isShare = request.method === "POST" && new URL(request.url).pathname === location.pathname;
  if (isShare) respondWith.call(event, receive(request));
});

/** Keeps the shared files for the upload page, and opens it. Only a page that knows the token may send them unasked. */
async function receive(request: Request): Promise<Response> {
  try {
    const token = crypto.randomUUID();
    const entries = (await request.formData()).getAll(FIELD);
    const files = entries.filter((entry) => entry instanceof File && entry.size > 0).slice(0, MAX_FILES);
    await kept.change(
      files.flatMap((file) => (file instanceof File ? [sharedUpload(file, token)] : [])),
      [],
    );
    return Response.redirect(`${baseUrl}/?shared=${token}`, 303);
  } catch {
    // No readable form, or no room: the page asks for the files.
    return Response.redirect(`${baseUrl}/?shared=missed`, 303);
  }
}

function sharedUpload(file: File, token: string): KeptUpload {
  const { name, size } = file;
  return {
    key: crypto.randomUUID(),
    owner: token,
    chosen: { name, size },
    file,
    meta: null,
    atMs: Date.now(),
  };
}
