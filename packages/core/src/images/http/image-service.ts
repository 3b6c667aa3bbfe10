import type { Call, Reply, Service } from "../../contracts/call.ts";
import { isError, isServiceError, ServiceError, systemCode } from "../../errors.ts";
import { HttpProblem } from "../../http/http-problem.ts";
import { type Problem, problemOf, problemReply } from "../../http/problem.ts";
import { transportRefusal } from "../../http/transport.ts";
import { UNTRUSTED_PROXY_WARNING, watchForProxy } from "../../http/untrusted-proxy.ts";
import { StillProcessing } from "../library/find-image.ts";
import { baseUrl } from "../record/image-links.ts";
import { createImage } from "./create-image.ts";
import { deleteImage, patchImage, readRecord } from "./edit-image.ts";
import { type ImageAddress, matchImageAddress } from "./image-address.ts";
import type { ImageContext } from "./image-context.ts";
import { countRequest } from "./limits.ts";
import { editor, landing, viewer } from "./pages/image-pages.ts";
import { prefersHtml } from "./pages/page-reply.ts";
import { problemPage } from "./pages/problem-page.ts";
import { sharexReply } from "./pages/sharex.ts";
import { assetReply, referencePage, uploadPage } from "./pages/site-pages.ts";
import { processingReply } from "./processing-reply.ts";
import { readImage } from "./read-image.ts";

/** Methods per kind of address. HEAD goes wherever GET goes; OPTIONS everywhere. */
const METHODS: Record<Exclude<ImageAddress["kind"], "nothing">, readonly string[]> = {
  collection: ["POST"],
  record: ["GET", "HEAD", "PATCH", "DELETE"],
  bytes: ["GET", "HEAD"],
  landing: ["GET", "HEAD"],
  viewer: ["GET", "HEAD"],
  editor: ["GET", "HEAD", "POST"],
  front: ["GET", "HEAD"],
  asset: ["GET", "HEAD"],
  reference: ["GET", "HEAD"],
  description: ["GET", "HEAD"],
  sharex: ["GET", "HEAD"],
  unknown_format: ["GET", "HEAD", "POST"],
};

const PLAIN_HOST = /^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$/;

/** The image service over HTTP: addresses below the mount point to routes, failures to problems. */
export function createImageService(context: ImageContext): Service {
  const watch = watchForProxy((header) => context.settings.log.warn({ header }, UNTRUSTED_PROXY_WARNING));
  return {
    async handle(call) {
      const address = matchImageAddress(call.path);
      if (address === undefined || !isOffered(context, address)) return undefined;
      watch(call);
      return context.inFlight.isClosing
        ? refusal(context, call, address, CLOSING)
        : context.inFlight.track(handleOurs(context, call, address));
    },
  };
}

const CLOSING: Problem = {
  status: 503,
  detail: "The service is shutting down. Try again later.",
  headers: { "Retry-After": "2", Connection: "close" },
};

async function handleOurs(
  context: ImageContext,
  call: Call,
  address: ImageAddress,
): Promise<Reply | undefined> {
  try {
    if (!context.guard.isOpen) await context.guard.open();
    // What only looks like an ID is the host's, whatever the method and the connection: a slug may have 22 characters.
    if (isImagePage(address) && !(await isKnown(context, call, address.id))) return undefined;
    return await answer(context, call, address);
  } catch (error) {
    if (error instanceof StillProcessing) return processingReply(context, call, address, error.record);
    return refusal(context, call, address, expectedProblem(context, call, error));
  }
}

/** What the pages serve, there is only with pages. */
function isOffered({ pages }: ImageContext, address: ImageAddress): boolean {
  if (address.kind === "front" || address.kind === "reference") return pages !== null;
  return address.kind !== "asset" || pages?.asset(address.name) !== undefined;
}

type ImagePageAddress = Extract<ImageAddress, { kind: "landing" | "viewer" | "editor" }>;

function isImagePage(address: ImageAddress): address is ImagePageAddress {
  return address.kind === "landing" || address.kind === "viewer" || address.kind === "editor";
}

/** Whether a person opens the address: its refusals are pages for those who prefer HTML. */
function isPage(address: ImageAddress): boolean {
  return isImagePage(address) || address.kind === "front" || address.kind === "reference";
}

async function isKnown({ records }: ImageContext, call: Call, id: string): Promise<boolean> {
  return records.peek(id) !== undefined || (await records.load(id, call.signal)) !== null;
}

async function answer(context: ImageContext, call: Call, address: ImageAddress): Promise<Reply> {
  requireTransport(context, call);
  if (address.kind === "nothing") return nothingReply(call);
  const methods = METHODS[address.kind];
  if (!methods.includes(call.method)) return methodReply(call, methods);
  switch (address.kind) {
    case "collection":
      return createImage(context, call, address.suffix);
    case "record":
      if (call.method === "PATCH") return patchImage(context, call, address.id);
      if (call.method === "DELETE") return deleteImage(context, call, address.id);
      await countRequest(context, call, "reads");
      return readRecord(context, call, address.id);
    case "bytes":
      await countRequest(context, call, "reads");
      return readImage(context, call, address.id, address.format);
    case "landing":
      await countRequest(context, call, "reads");
      return landing(context, call, address.id);
    case "viewer":
      await countRequest(context, call, "reads");
      return viewer(context, call, address.id);
    case "editor":
      return editor(context, call, address.id);
    case "front":
      return uploadPage(context, call);
    case "asset":
      return assetReply(context, call, address.name);
    case "reference":
      return referencePage(context, call);
    case "description":
      return context.description.reply(call, baseUrl(call, context.settings.publicUrl));
    case "sharex":
      return sharexReply(context, call);
    case "unknown_format":
      throw new ServiceError("unsupported_media", `Nothing is served as .${address.suffix}`);
  }
}

function requireTransport({ settings }: ImageContext, call: Call): void {
  // RFC 9112 §3.2; and without an origin there would be no absolute URLs. Most hosts are plain enough to be told at once.
  if (!PLAIN_HOST.test(call.headers.host ?? "") && call.origin === "")
    throw new ServiceError("bad_request", "The Host header is missing or malformed");
  if (
    settings.allowedHosts !== null &&
    !settings.allowedHosts.has(call.origin.replace(/^\w+:\/\//, "").toLowerCase())
  ) {
    throw new ServiceError("bad_request", "This host is not served here");
  }
  const reason = transportRefusal(call, settings.tls);
  if (reason !== null) throw new ServiceError("forbidden", reason);
}

/** OPTIONS is answered everywhere; nothing else makes a difference where nothing is. */
function nothingReply(call: Call): Reply {
  if (call.method === "OPTIONS") return methodReply(call, ["GET", "HEAD"]);
  throw new HttpProblem({ status: 404, detail: "There is nothing at this address." });
}

function methodReply(call: Call, methods: readonly string[]): Reply {
  const Allow = [...methods, "OPTIONS"].join(", ");
  if (call.method === "OPTIONS") return { status: 204, headers: { Allow } };
  throw new HttpProblem({
    status: 405,
    detail: `Here only ${Allow} are permitted.`,
    headers: { Allow },
  });
}

/** What to tell the client of a failure. One that nobody expected is reported, and the host's where it asked for it. */
function expectedProblem({ settings }: ImageContext, call: Call, error: unknown): Problem {
  if (error instanceof HttpProblem) return error.problem;
  if (isServiceError(error)) {
    if (["store_unavailable", "no_space", "damaged", "host_misuse"].includes(error.code))
      settings.onError(error, call);
    return problemOf(error);
  }
  // The client left: nobody will read the reply, and nothing is wrong with us.
  if (isDeparture(call, error)) return { status: 400, detail: "The client left before there was a reply." };
  if (settings.errors === "host") throw error;
  settings.onError(error, call);
  return {
    status: 500,
    detail: "Something unexpected went wrong. Try again later.",
  };
}

/** Whether work failed because its client left: with the signal's own reason, or as streams say it. */
function isDeparture({ signal }: Call, error: unknown): boolean {
  if (!signal.aborted) return false;
  if (error === signal.reason) return true;
  if (!isError(error)) return false;
  return error.name === "AbortError" || systemCode(error) === "ERR_STREAM_PREMATURE_CLOSE";
}

async function refusal(
  context: ImageContext,
  call: Call,
  address: ImageAddress,
  problem: Problem,
): Promise<Reply> {
  const { pages } = context;
  if (pages !== null && isPage(address) && prefersHtml(call, "application/problem+json")) {
    return problemPage(context, call, pages, problem, isImagePage(address) ? address.id : null);
  }
  const isText = address.kind === "collection" && address.suffix === "txt";
  const reply = problemReply(problem, `${call.mountPath}${call.path}`, isText);
  return call.method === "HEAD" ? { status: reply.status, headers: reply.headers } : reply;
}
