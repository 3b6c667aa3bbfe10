import {
  type Call,
  type Images,
  isServiceError,
  problemOf,
  type Reply,
  type Service,
  ServiceError,
} from "@outrigger/core";
import type { Page } from "@outrigger/core/images";
import { checkOptions, rules } from "@outrigger/core/stores";
import { loadAssets } from "../assets.ts";
import { LANGUAGE_RULES, Languages } from "../messages/languages.ts";
import { performActs, readActs } from "./admin-acts.ts";
import { adminPage, refusalPage } from "./admin-view.ts";
import { checkToken, formToken } from "./form-token.ts";

/**
 * Decides about a request before any work is done: `false` and `undefined` refuse it (403). `by` names the operator in the log and in decisions of reports.
 * `call.context` is the framework's request, as for `authorize` of the images.
 */
export type AuthorizeAdmin = (call: Call) => AdminDecision | Promise<AdminDecision>;

type AdminDecision = boolean | { by: string } | undefined;

const RULES = {
  /** The images to decide about. */
  images: rules.required(rules.shape<Images>("the images of createImages", "newest", "review", "withhold")),
  /** Called for every request. The page is closed to all others, so it has no default. */
  authorize: rules.required(rules.fn<AuthorizeAdmin>()),
  ...LANGUAGE_RULES,
};

export interface AdminPagesOptions extends rules.Options<typeof RULES> {}

/** On every reply. The page shows what must stay with its reader. */
const HEADERS = {
  "Cache-Control": "private, no-store",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
};
/** Of a picture that is opened by its address. */
const PICTURE_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'";
const BODY_LIMITS = { maxBytes: 256 * 1024, idleMs: 10_000 };
const PICTURE = /^\/([\w-]{22})\.(?:jpg|gif)$/;
/** Sides of the shown pictures in pixels. */
const THUMBNAIL = "480x480";
const LARGE = "2000x2000";

/**
 * One page for the person who decides about images, to be mounted like the images themselves: held, reported and withheld images,
 * with pictures, and what can be done about them. It needs no JavaScript.
 * @throws TypeError without `images` or `authorize`.
 * @example
 * app.use("/admin/images", express(createAdminPages({ images, authorize: ({ context }) => context.user?.isModerator && { by: context.user.name } })));
 */
export function createAdminPages(options: AdminPagesOptions): Service {
  const { images, authorize, ...language } = checkOptions("createAdminPages", options, RULES);
  const languages = new Languages("createAdminPages", language);
  const refusal = (call: Call, detail: string) =>
    languages.render(call.headers["accept-language"], () => refusalPage(call, detail));
  // Fails now, not on the first request, when the built files are missing.
  const assets = loadAssets();

  async function answer(call: Call, by: string | undefined): Promise<Reply> {
    const { method, path, search } = call;
    const query = new URLSearchParams(search);
    const [, id] = PICTURE.exec(path) ?? [];
    if (method === "POST" && path === "/") return act(call, query, by);
    if (method !== "GET" && method !== "HEAD") {
      const Allow = path === "/" ? "GET, HEAD, POST" : "GET, HEAD";
      return pageReply(call, refusal(call, `Here only ${Allow} are permitted.`), 405, { Allow });
    }
    if (id !== undefined) return picture(call, id, query);
    const asset = assets.get(path.slice("/assets/".length));
    if (asset !== undefined) {
      const headers = { ...HEADERS, "Content-Type": asset.type, "Content-Length": String(asset.body.length) };
      return method === "HEAD" ? { status: 200, headers } : { status: 200, headers, body: asset.body };
    }
    const token = await formToken(images, by);
    return pageReply(call, await adminPage({ images, call, query, token, languages }));
  }

  async function act(call: Call, query: URLSearchParams, by: string | undefined): Promise<Reply> {
    const fields = (await call.fields(BODY_LIMITS)) ?? {};
    await requireOwnForm(call, fields.token, by);
    const token = await formToken(images, by);
    const acts = readActs(fields);
    const results = "problem" in acts ? [] : await performActs(images, acts, by);
    const page = await adminPage({ images, call, query, token, typed: fields, acts, results, languages });
    return pageReply(call, page, "problem" in acts ? 400 : 200);
  }

  /** A page of another site can send a form with the operator's cookies, but cannot read the token from this page. */
  async function requireOwnForm(call: Call, token: unknown, by: string | undefined): Promise<void> {
    const site = call.headers["sec-fetch-site"];
    if (site === "same-origin") return;
    // Browsers send no header to addresses without TLS, and `none` when the reader reloads the reply.
    const isUnknown = site === undefined || site === "none";
    if (isUnknown && (await checkToken(images, by, token))) return;
    throw new ServiceError(
      "forbidden",
      "This form is too old, or another site sent it. Open the page again.",
    );
  }

  /** Always a raster picture: an SVG or PDF of a stranger never reaches the browser of the operator. */
  async function picture(call: Call, id: string, query: URLSearchParams): Promise<Reply> {
    const opened = await images.review(id, {
      format: call.path.endsWith(".gif") ? "gif" : "jpg",
      resize: query.has("large") ? LARGE : THUMBNAIL,
      ...(query.has("page") ? { page: Number(query.get("page")) } : {}),
      signal: call.signal,
    });
    if (call.method === "HEAD") opened.body.destroy();
    const headers = {
      ...HEADERS,
      "Content-Type": opened.type,
      "Content-Length": String(opened.size),
      "Content-Security-Policy": PICTURE_POLICY,
    };
    return call.method === "HEAD" ? { status: 200, headers } : { status: 200, headers, body: opened.body };
  }

  return {
    async handle(call) {
      const isOurs =
        call.path === "/" ||
        PICTURE.test(call.path) ||
        assets.get(call.path.replace(/^\/assets\//, "")) !== undefined;
      if (!isOurs) return undefined;
      try {
        return await answer(call, operatorOf(await authorize(call)));
      } catch (error) {
        if (!isServiceError(error)) throw error;
        const { status, detail, headers } = problemOf(error);
        return pageReply(call, refusal(call, detail), status, headers);
      }
    },
  };
}

/** The name of the operator; `undefined`: the host gives no name. Throws `forbidden` if the host refuses. */
function operatorOf(decision: AdminDecision): string | undefined {
  if (decision === true) return undefined;
  // A JavaScript host may return anything, such as the result of `a && b`. No other value may count as consent.
  const by: unknown = Object(decision).by;
  if (typeof decision === "object" && typeof by === "string" && by.trim() !== "" && by.length <= 256)
    return by;
  if (!decision) throw new ServiceError("forbidden", "This page is for operators.");
  throw new ServiceError(
    "host_misuse",
    "authorize must return true, false, { by } of 1 to 256 characters, or nothing",
  );
}

function pageReply(call: Call, page: Page, status = 200, more: Reply["headers"] = {}): Reply {
  const headers = {
    ...HEADERS,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(page.html)),
    "Content-Security-Policy": page.contentSecurityPolicy,
    ...page.headers,
    ...more,
  };
  return call.method === "HEAD" ? { status, headers } : { status, headers, body: page.html };
}
