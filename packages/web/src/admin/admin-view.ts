import type { Call, ImageReport, Images, ListedImage, NewestImages, SameBytes } from "@outrigger/core";
import type { Page } from "@outrigger/core/images";
import { documentPage } from "../document.ts";
import { type Html, type HtmlValue, html, textMarkup } from "../html.ts";
import type { Languages } from "../messages/languages.ts";
import { dateMarkup, withDates } from "../phrases.ts";
import { type TextKey, t } from "../texts.ts";
import { type ActName, type ActResult, type Acts, MAX_IMAGES, MAX_REASON } from "./admin-acts.ts";
import { ADMIN_STYLE } from "./admin-style.ts";
import { imageCard, search } from "./image-card.ts";

/** Images of a page. */
const PAGE = 50;

/** The lists to choose from, and what can be done with their images. */
const VIEWS = {
  all: ["withhold", "release", "accept", "refuse", "deny", "allow", "remove"],
  held: ["accept", "refuse", "withhold", "deny", "remove"],
  reported: ["keep", "withhold", "deny", "remove"],
  withheld: ["release", "withhold", "allow", "remove"],
} as const satisfies Record<string, readonly ActName[]>;

type View = keyof typeof VIEWS;
const VIEW_NAMES = ["all", "held", "reported", "withheld"] as const;

export interface AdminRequest {
  images: Images;
  call: Call;
  query: URLSearchParams;
  token: string;
  /** The form that was sent. Absent: none was. */
  typed?: Readonly<Record<string, unknown>>;
  acts?: Acts | { problem: TextKey; count?: number };
  languages: Languages;
  results?: readonly ActResult[];
}

/** The list of images, with the outcome of the form that was sent. */
export async function adminPage(request: AdminRequest): Promise<Page> {
  const { images, call, query, acts, languages } = request;
  const view = viewOf(query);
  const pasted = acts !== undefined && "act" in acts && acts.act === null ? acts.ids : null;
  const found = await (view === "reported" && pasted === null
    ? findReported(images, query)
    : findImages(images, view, query, pasted));
  const same = await Promise.all(found.images.map(({ id }) => images.sameBytes(id)));
  return languages.render(call.headers["accept-language"], () =>
    listPage(request, view, found, same, pasted),
  );
}

function listPage(
  request: AdminRequest,
  view: View,
  found: FoundImages,
  same: readonly SameBytes[],
  pasted: string[] | null,
): Page {
  const { call, query, acts, results = [] } = request;
  const nowMs = Date.now();
  const base = call.mountPath;
  const isBlurred = query.get("blur") === "1";
  const cards = found.images.map((image, at) =>
    imageCard(image, found.reports?.get(image.id), same[at], base, isBlurred, nowMs),
  );
  return shell(
    call,
    t(`admin.view.${view}`),
    html`<h1>${t(pasted === null ? `admin.heading.${view}` : "admin.heading.found")}</h1>
${outcome(acts, results)}
${views(base, view, isBlurred)}
${tools(request, view, isBlurred)}
${readingLine(found.reading)}
${
  cards.length === 0
    ? html`<section><p>${t("admin.none")}</p></section>`
    : html`<form method="post" action="${selfOf(call)}" id="decide">
<ul class="shots">${cards}</ul>
${decideSection(request, view, found)}
</form>`
}
${turnLinks(base, query, found, pasted)}`,
  );
}

/** A page that says why a request is refused. */
export function refusalPage(call: Call, detail: string): Page {
  return shell(
    call,
    t("admin.title"),
    html`<div class="card"><h1>${t("admin.title")}</h1><p>${withDates(detail)}</p>
<p><a href="${call.mountPath}/">${t("admin.openList")}</a></p></div>`,
  );
}

function shell({ origin, mountPath }: Call, title: string, main: Html): Page {
  return documentPage({
    title,
    productName: t("admin.title"),
    baseUrl: `${origin}${mountPath}`,
    layout: "admin",
    style: ADMIN_STYLE,
    main,
  });
}

function viewOf(query: URLSearchParams): View {
  const show = query.get("show") ?? "";
  return Object.hasOwn(VIEWS, show) ? (show as View) : "all"; // It is a key.
}

interface FoundImages extends NewestImages {
  /** The open reports of the images, by ID. */
  reports?: ReadonlyMap<string, ImageReport>;
}

/** Images with open reports, those that must be decided first at the front. `before` is the number of those to skip. */
async function findReported(images: Images, query: URLSearchParams): Promise<FoundImages> {
  const skipped = Math.max(0, Math.trunc(Number(query.get("before")))) || 0;
  const reports = new Map<string, ImageReport>();
  let [at, next]: [number, number | null] = [0, null];
  for await (const report of images.reports.list({ state: "open" })) {
    if (at++ < skipped) continue;
    if (reports.size === PAGE) {
      next = skipped + PAGE;
      break;
    }
    reports.set(report.id, report);
  }
  const listed = (await images.newest({ ids: [...reports.keys()] })).images;
  const found = new Map(listed.map((image) => [image.id, image]));
  return {
    // Reports outlive their image, and the record of an ended one may be gone.
    images: [...reports.keys()].map((id) => found.get(id) ?? endedImage(id)),
    next,
    reading: null,
    reports,
  };
}

function endedImage(id: string): ListedImage {
  const none = { name: "", description: null, owner: null, size: 0, createdAt: 0, expiresAt: 0 };
  return { id, state: "removed", type: "image/png", sha256: "", ...none };
}

async function findImages(
  images: Images,
  view: View,
  query: URLSearchParams,
  pasted: string[] | null,
): Promise<FoundImages> {
  if (pasted !== null) return images.newest({ ids: pasted });
  const before = Number(query.get("before"));
  const owner = query.get("owner") ?? "";
  return images.newest({
    ...(view === "held" || view === "withheld" ? { state: view } : {}),
    ...(owner === "" ? {} : { owner }),
    ...(Number.isSafeInteger(before) && before > 0 ? { before } : {}),
    limit: PAGE,
  });
}

function outcome(acts: AdminRequest["acts"], results: readonly ActResult[]): HtmlValue {
  if (acts === undefined) return null;
  if ("problem" in acts)
    return html`<div class="banner alarm" role="alert">${t(acts.problem, { images: MAX_IMAGES, characters: MAX_REASON, count: acts.count ?? 0 })}</div>`;
  if (acts.act === null) return null;
  const { act } = acts;
  const failed = results.filter(({ failure }) => failure !== null);
  const done = new Set(results.filter(({ failure }) => failure === null).map(({ id }) => id));
  for (const { others } of results) for (const id of others?.released ?? []) done.add(id);
  const count = done.size;
  const left = [...new Set(results.flatMap(({ others }) => others?.withheld ?? []))];
  return html`${
    count > 0 && html`<div class="banner notice" role="status">${t(`admin.done.${act}`, { count })}</div>`
  }${
    left.length > 0 &&
    html`<div class="banner notice" role="status">${t("admin.stayWithheld", { count: left.length })}<ul class="outcome">${left.map((id) => html`<li><code>${id}</code></li>`)}</ul></div>`
  }${
    failed.length > 0 &&
    html`<div class="banner alarm" role="alert">${t(`admin.not.${act}`, { count: failed.length })}<ul class="outcome">${failed.map(
      ({ id, failure }) => html`<li><code>${id}</code>: ${failure !== null && withDates(failure)}</li>`,
    )}</ul></div>`
  }`;
}

function views(base: string, shown: View, isBlurred: boolean): Html {
  const items = VIEW_NAMES.map((name) => {
    const address = `${base}/${search({ show: name === "all" ? "" : name, blur: isBlurred ? "1" : "" })}`;
    return html`<li><a class="button plain" href="${address}"${name === shown && html` aria-current="page"`}>${t(`admin.view.${name}`)}</a></li>`;
  });
  return html`<nav aria-label="${t("admin.lists")}"><ul class="views">${items}</ul></nav>`;
}

function tools({ call, query, token, typed }: AdminRequest, view: View, isBlurred: boolean): Html {
  return html`<section class="tools" aria-label="${t("admin.filters")}">
<form method="get" action="${call.mountPath}/" class="inline">${view !== "all" && html`<input type="hidden" name="show" value="${view}">`}
<label class="unseen" for="owner">${t("admin.owner")}</label>
<input id="owner" name="owner" value="${query.get("owner") ?? ""}" placeholder="${t("admin.owner")}" autocomplete="off" dir="auto">
<label class="check"><input type="checkbox" id="blur" name="blur" value="1"${isBlurred && html` checked`}> ${t("admin.blur")}</label>
<button class="plain">${t("admin.show")}</button></form>
<details${typeof typed?.links === "string" && html` open`}><summary>${t("admin.findByLinks")}</summary>
<form method="post" action="${selfOf(call)}"><input type="hidden" name="token" value="${token}">
<label for="links">${t("admin.links", { images: MAX_IMAGES })}</label>
<textarea id="links" name="links" rows="4" spellcheck="false" required>${typedText(typed, "links")}</textarea>
<button class="main" name="act" value="find">${t("admin.find")}</button></form></details>
</section>`;
}

function decideSection({ token, typed, acts }: AdminRequest, view: View, { images }: NewestImages): Html {
  // A rejected form is shown as it was sent.
  const given = acts !== undefined && "problem" in acts ? typed : undefined;
  const offered: readonly ActName[] = VIEWS[view];
  const canRefuse = offered.includes("refuse");
  const buttons = offered.map((act) => {
    const style = act === "remove" ? "grave" : act === offered[0] ? "" : "plain";
    return html`${act === "remove" && html`<label class="check"><input type="checkbox" name="confirm" value="yes"> ${t(canRefuse ? "admin.confirmBoth" : "admin.confirm")}</label>`}<button name="act" value="${act}" class="${style}">${t(`admin.act.${act}`)}</button>`;
  });
  return html`<section class="decide" aria-labelledby="chosen"><h2><span id="chosen" data-all="${images.length}">${t("admin.chosen")}</span>
<label class="check"><input type="checkbox" name="all" value="yes"> ${t("admin.chooseAll", { count: images.length })}</label></h2>
<button class="unseen" name="act" value="" tabindex="-1" aria-hidden="true">${t("admin.nothing")}</button>
<input type="hidden" name="token" value="${token}"><input type="hidden" name="shown" value="${images.map(({ id }) => id).join(" ")}">
<div class="fields"><div><label for="reason">${t(view === "reported" ? "admin.reasonUnlessKept" : "admin.reason")}</label>
<input id="reason" name="reason" maxlength="1000" value="${typedText(given, "reason")}" autocomplete="off" dir="auto"></div>
<div><label for="authority">${t("admin.authority")}</label>
<input id="authority" name="authority" type="url" value="${typedText(given, "authority")}" placeholder="https://" autocomplete="off"></div></div>
<label class="check"><input type="checkbox" name="copies" value="yes"> ${t("admin.copies")}</label>${
    offered.includes("release") &&
    html`
<label class="check"><input type="checkbox" name="together" value="yes"> ${t("admin.together")}</label>`
  }
<div class="acts">${buttons}</div>
</section>`;
}

function typedText(typed: AdminRequest["typed"], name: string): string {
  const value = typed?.[name];
  return typeof value === "string" ? value : "";
}

function readingLine(reading: NewestImages["reading"]): HtmlValue {
  if (reading === null) return null;
  const { startedAt, records, isUnderWay, hasOlder } = reading;
  const at = dateMarkup(new Date(startedAt).toISOString());
  if (isUnderWay) {
    return html`<p class="banner" role="status">${t("admin.reading", { count: records })}</p>`;
  }
  return html`<p class="hint">${textMarkup("admin.until", { date: at })}${hasOlder && ` ${t("admin.older")}`}</p>`;
}

function turnLinks(
  base: string,
  query: URLSearchParams,
  { next }: FoundImages,
  pasted: string[] | null,
): HtmlValue {
  if (pasted !== null) return null;
  const { show = "", owner = "", blur = "", before } = Object.fromEntries(query);
  if (next === null && before === undefined) return null;
  const link = (to: string, text: string) =>
    html`<a class="button plain" href="${base}/${search({ show, owner, blur, before: to })}">${text}</a>`;
  return html`<nav class="turn" aria-label="${t("admin.pages")}"><span>${before !== undefined && link("", t("admin.firstPage"))}</span>
<span>${next !== null && link(String(next), t("admin.more"))}</span></nav>`;
}

/** Where the forms are sent: the list that is shown, so that it comes back. */
function selfOf({ mountPath, search: asked }: Call): string {
  return `${mountPath}/${asked === "" ? "" : `?${asked}`}`;
}
