import { createHash, randomUUID } from "node:crypto";
import { printable } from "../../../cli/print.ts";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { describeAnswer, problemDetail, rate, refusedMethod, remedies, unexpected } from "./advice.ts";
import {
  type Answer,
  DOCTOR_NAME,
  headerOf,
  type MountVisit,
  memberOf,
  pathOf,
  type UploadedImage,
} from "./visit.ts";

/** Findings about an uploaded image. Rejects with Node's error if there is no reply. */
type ImageCheck = (visit: MountVisit, image: UploadedImage) => Promise<Finding[]>;

const PICTURE_HEADERS = {
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "cross-origin",
};
/** Headers that caches add to replies, on a hit or a miss. */
const OF_CACHES = ["age", "cache-status", "x-cache", "x-cache-status", "cf-cache-status", "x-varnish"];
const HTML = { Accept: "text/html" };
/** Tolerance for clocks that differ and show whole seconds. */
const SLACK_SECONDS = 60;
/** Smaller than the test picture, and not a step of the service. */
const SIDE = 3;
/** Where the header of a PNG has its width (PNG 3, clause 11.2.1). */
const WIDTH_AT = 16;
const NEW_NAME = "outrigger doctor, renamed";
/** Reads after a change, each on a new connection so that a proxy spreads them over its processes. */
const READS_BACK = 6;

/** The checks of an uploaded image, by name, in their order. */
export const IMAGE_CHECKS: Readonly<Record<string, ImageCheck>> = {
  /** Whether the addresses in replies are below the address requested. */
  async addresses({ base }, { answer }) {
    const location = headerOf(answer, "Location");
    const given = [memberOf(answer, "url"), memberOf(answer, "editUrl"), location];
    const wrong = given.map(String).find((each) => !each.startsWith(`${base}/`));
    if (location === "")
      return [
        problem("addresses", "the reply to a create has no Location", "Forward the headers of replies"),
      ];
    if (wrong === undefined) return [ok("addresses", `below ${base}, as requested`)];
    // The query of an edit address has the PIN.
    const detail = `replies name ${wrong.replace(/\?.*$/s, "")}, but the request went to ${base}`;
    const remedy = wrong.startsWith(base.replace(/^https:/, "http:"))
      ? `. ${remedies.trustProxy}`
      : ", or let the proxy forward Host (nginx: proxy_set_header Host $http_host)";
    return [problem("addresses", printable(detail), `Set publicUrl: "${base}"${remedy}`)];
  },

  /** Whether the service receives the client's User-Agent. */
  async "User-Agent"(_visit, { answer }) {
    const name = memberOf(answer, "agent", "name");
    const fault = name !== DOCTOR_NAME && printable(`arrives as ${name ?? "an unreadable value"}`);
    return [rate("User-Agent", fault)];
  },

  /** Whether full, range and conditional requests for pictures work. */
  async reading(visit, image) {
    const path = pathOf(image, "png");
    const whole = await visit.send(path);
    if (whole.status !== 200) return [unexpected("reading", whole, "the reply for the picture is ")];
    const { length } = whole.body;
    const size = memberOf(image.answer, "size");
    const headLength = headerOf(await visit.send(path, { method: "HEAD" }), "Content-Length");
    const range = await visit.send(path, { headers: { Range: "bytes=0-9" } });
    const isPart = range.status === 206 && range.body.equals(whole.body.subarray(0, 10));
    const etag = headerOf(whole, "ETag");
    const again = await visit.send(path, { headers: { "If-None-Match": etag } });
    const plain = headerOf(await visit.send(pathOf(image, "json")), "ETag");
    const gzip = { headers: { "Accept-Encoding": "gzip, br" } };
    const zipped = headerOf(await visit.send(pathOf(image, "json"), gzip), "ETag");
    const isFresh = again.status === 304;
    return [
      rate("reading", length !== size && `${length} of ${size} bytes arrive`),
      rate("HEAD", headLength !== `${length}` && `has Content-Length "${headLength}"`),
      rate("Range", !isPart && `answers ${describeAnswer(range)}`),
      etag.startsWith("W/")
        ? warning("ETag", "is made weak in transit", remedies.noCompression)
        : rate("ETag", !isFresh && `"${etag}": unchanged pictures are sent again`),
      rate("compression", zipped !== plain && `changes the ETag to ${zipped}, so If-Match fails`),
    ];
  },

  /** Whether the headers arrive that stop scripts in SVG pictures, and caches keep no picture after its end. */
  async "safety headers"(visit, image) {
    const answer = await visit.send(pathOf(image, "png"));
    const wrong = Object.entries(PICTURE_HEADERS).filter(([name, value]) => headerOf(answer, name) !== value);
    const names = wrong.map(([name]) => name).join(" and ");
    const fault = names !== "" && `${names} of pictures are changed or missing`;
    return [rate("safety headers", fault), cachingFinding(answer)];
  },

  /** Whether any client can request any size without a cache in front. */
  async sizes(visit, image) {
    const path = `${pathOf(image, "png")}?resize=${SIDE}x${SIDE}`;
    const first = await visit.send(path);
    if (first.status === 403 && problemDetail(first).includes("need an address signed"))
      return [ok("sizes", "only presets and signed addresses")];
    // Other checks report pictures that do not arrive.
    if (first.status !== 200 || first.body.length < WIDTH_AT + 4) return [];
    if (first.body.readUInt32BE(WIDTH_AT) !== SIDE) return [ok("sizes", "the next larger step")];
    const repeated = await visit.send(path);
    const shown = OF_CACHES.find((name) => headerOf(repeated, name) !== "");
    if (shown !== undefined) return [ok("sizes", `any, behind a cache (${shown})`)];
    const detail = "any client can request any size, and no reply header shows a cache in front";
    return [warning("sizes", detail, 'Set sizes: "steps" or "signed", or put a cache in front')];
  },

  /** Whether JSON changes an image, every process sees the change at once, and a stale `If-Match` is rejected. */
  async PATCH(visit, image) {
    const path = pathOf(image, "json");
    const patch = (name: string, more: Readonly<Record<string, string>> = {}) => {
      const headers = { "Content-Type": "application/json", "X-Service-Image-Pin": image.pin, ...more };
      return visit.send(path, { method: "PATCH", headers, body: Buffer.from(JSON.stringify({ name })) });
    };
    const etag = headerOf(await visit.send(path), "ETag");
    const patched = await patch(NEW_NAME);
    if (memberOf(patched, "name") !== NEW_NAME) return [refusedMethod("PATCH", patched)];
    let stale: string | false = false;
    for (let index = 0; index < READS_BACK; index++) {
      const answer = await visit.send(path);
      if (memberOf(answer, "name") !== NEW_NAME) stale = `a changed image answers ${describeAnswer(answer)}`;
    }
    const late = await patch("outrigger doctor, lost", { "If-Match": etag });
    const isAccepted = etag === "" || late.status !== 412;
    const fault = isAccepted && `the reply to an edit of a changed record is ${describeAnswer(late)}`;
    return [
      ok("PATCH", "JSON and the PIN arrive"),
      rate("reading after writing", stale),
      rate("If-Match", fault),
    ];
  },

  /** Whether people can view an image in a browser and edit it. Empty if the service has no pages. */
  async pages(visit, { id, pin }) {
    const viewer = await visit.send(`/${id}/view`, { headers: HTML });
    // Pages are not configured, or the page is not Outrigger's.
    if (viewer.status === 501 || (viewer.status === 404 && problemDetail(viewer) !== "")) return [];
    const edit = await visit.send(`/${id}/edit`, { headers: { ...HTML, "X-Service-Image-Pin": pin } });
    const found = pageFinding("edit page", edit);
    const isSecret =
      headerOf(edit, "Cache-Control").includes("no-store") &&
      headerOf(edit, "Referrer-Policy") === "no-referrer";
    const detail = "no-store or no-referrer is missing, and its address holds the PIN";
    return [
      pageFinding("viewer", viewer),
      found.status === "ok" && !isSecret ? problem("edit page", detail, remedies.leaveHeaders) : found,
    ];
  },

  /** Whether a deleted image is gone at once, in every process. */
  async DELETE(visit, image) {
    const check = "after deletion";
    const path = pathOf(image, "png");
    // Fills a cache in front.
    for (let index = 0; index < 2; index++) await visit.send(path);
    const answer = await visit.remove(image);
    if (answer.status !== 204) return [refusedMethod("DELETE", answer)];
    const deleted = ok("DELETE", "arrives");
    for (let index = 0; index < READS_BACK; index++) {
      // No cache has this address.
      const { status } = await visit.send(`${path}?doctor=${randomUUID()}`);
      if (status !== 410 && status !== 404)
        return [deleted, problem(check, `the image still answers ${status}`, remedies.shareStorage)];
    }
    const cached = await visit.send(path);
    const seconds = /\bmax-age=(\d+)/.exec(headerOf(cached, "Cache-Control"))?.[1] ?? "any number of";
    const age = headerOf(cached, "Age").replace(/^.+$/, " (Age: $&)");
    const fault = `a cache in front still serves the picture${age}, for up to ${seconds} seconds`;
    return [deleted, rate(check, cached.status === 200 && fault)];
  },
};

function cachingFinding(answer: Answer): Finding {
  const check = "Cache-Control";
  const caching = headerOf(answer, check);
  if (headerOf(answer, "Set-Cookie") !== "" && !/\b(?:private|no-store)\b/i.test(caching)) {
    return warning(
      check,
      "of pictures allows shared caches to send the cookie of one client to others (Set-Cookie)",
      "Let no proxy or middleware in front set cookies on pictures: see docs/mounting.md#cookies",
    );
  }
  const lifeMs = Date.parse(headerOf(answer, "Sunset")) - Date.parse(headerOf(answer, "Date"));
  const maxAge = Number(/\bmax-age=(\d+)/.exec(caching)?.[1]);
  const isBounded = /\bmust-revalidate\b/.test(caching) && !(maxAge > lifeMs / 1000 + SLACK_SECONDS);
  if (isBounded || /\bno-(?:store|cache)\b/.test(caching)) return ok(check, caching);
  return warning(
    check,
    `of pictures is "${caching}", so caches may keep deleted pictures`,
    "Let the proxy in front leave it unchanged (nginx: no expires), and set cacheSeconds",
  );
}

/** Whether a page arrives unchanged. Its policy names the hash of its style, so browsers do not apply a changed style. */
function pageFinding(check: string, answer: Answer): Finding {
  if (answer.status !== 200) return { ...unexpected(check, answer), status: "problem" };
  const policy = headerOf(answer, "Content-Security-Policy");
  const style = /<style>(.*?)<\/style>/s.exec(answer.body.toString("utf8"))?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  const isIntact = policy.startsWith("default-src 'none';") && policy.includes(`'sha256-${hash}'`);
  const fault = (!isIntact || policy.includes(",")) && "it or its Content-Security-Policy was changed";
  return rate(check, fault);
}

/** Whether people can upload in a browser. Empty if the service has no pages. */
export async function checkUploadPage(visit: MountVisit): Promise<Finding[]> {
  const answer = await visit.send("/", { headers: HTML });
  const isOurs = answer.status === 200 && answer.body.includes('<body class="upload">');
  return isOurs ? [pageFinding("upload page", answer)] : [];
}
