import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, problemDetail } from "./answer.ts";
import { remedies } from "./remedies.ts";
import type { UploadedImage } from "./uploaded-image.ts";
import { type MountCheck, type MountVisit, pathOf } from "./visit.ts";

const RANGE_BYTES = 10;
const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";
/** Clocks are whole seconds, and no two are the same. */
const SLACK_SECONDS = 60;
const SIZES = "sizes";
/** Smaller than the picture that is looked at, and no step of the service's own ladder. */
const SIDE = 3;
/** Where the header of a PNG has its width (PNG 3, clause 11.2.1). */
const WIDTH_AT = 16;
/** What caches add to replies, hit or miss. */
const OF_CACHES = ["age", "cache-status", "x-cache", "x-cache-status", "cf-cache-status", "x-varnish"];

/** Whether pictures arrive whole, in parts, and only when they have changed. */
export const checkReads: MountCheck = async (visit, image) => {
  const path = pathOf(image, "png");
  const whole = await visit.send(path);
  if (whole.status !== 200) {
    return [problem("reading", `the picture is answered with ${describeAnswer(whole)}`, remedies.ownErrors)];
  }
  return [
    bytesFinding(whole, image),
    await tryHead(visit, path, whole),
    await tryRange(visit, path, whole),
    await tryValidators(visit, path, whole),
    await tryCompression(visit, image),
  ];
};

function bytesFinding({ body }: Answer, { size }: UploadedImage): Finding {
  if (size === null || body.length === size) return ok("reading", "the picture arrives as it is kept");
  return problem(
    "reading",
    `of ${size} bytes ${body.length} arrive`,
    "Let pictures through as they are: no-transform forbids to make them smaller on the way",
  );
}

async function tryHead(visit: MountVisit, path: string, whole: Answer): Promise<Finding> {
  const answer = await visit.send(path, { method: "HEAD" });
  if (answer.status !== 200)
    return problem("HEAD", `is answered with ${answer.status}`, remedies.allowMethods);
  const length = headerOf(answer, "content-length");
  return length === String(whole.body.length)
    ? ok("HEAD", "as GET, without the picture")
    : warning(
        "HEAD",
        `names a length of ${length ?? "nothing"}`,
        "Let Content-Length of replies to HEAD through",
      );
}

async function tryRange(visit: MountVisit, path: string, whole: Answer): Promise<Finding> {
  const answer = await visit.send(path, { headers: { Range: `bytes=0-${RANGE_BYTES - 1}` } });
  const { status, body } = answer;
  if (status === 206 && body.equals(whole.body.subarray(0, RANGE_BYTES)))
    return ok("Range", "parts can be read");
  const what = status === 206 ? "206 with other bytes" : describeAnswer(answer);
  return warning("Range", `is answered with ${what}`, "Let Range, Content-Range and Accept-Ranges through");
}

async function tryValidators(visit: MountVisit, path: string, whole: Answer): Promise<Finding> {
  const etag = headerOf(whole, "etag");
  if (etag === undefined) {
    return warning("ETag", "is taken away, so that everything is sent anew every time", "Let ETag through");
  }
  if (etag.startsWith("W/")) return warning("ETag", "is made weak on the way", remedies.noCompression);
  const answer = await visit.send(path, { headers: { "If-None-Match": etag } });
  return answer.status === 304
    ? ok("ETag", "what has not changed is not sent again")
    : warning(
        "ETag",
        `If-None-Match is answered with ${describeAnswer(answer)}`,
        "Let If-None-Match through",
      );
}

/** Proxies often compress text, and then change its entity tag. */
async function tryCompression(visit: MountVisit, image: UploadedImage): Promise<Finding> {
  const plain = await visit.send(pathOf(image, "json"));
  const compressed = await visit.send(pathOf(image, "json"), { headers: { "Accept-Encoding": "gzip, br" } });
  const encoding = headerOf(compressed, "content-encoding") ?? "identity";
  const etag = headerOf(compressed, "etag");
  if (etag === headerOf(plain, "etag")) return ok("compression", encoding === "identity" ? "none" : encoding);
  const detail = `${encoding} changes the ETag to ${etag ?? "none"}, by which nothing can be changed safely`;
  return warning("compression", detail, remedies.noCompression);
}

/** Whether the headers arrive that keep scripts in SVG pictures from running. */
export const checkSafetyHeaders: MountCheck = async (visit, image) => {
  const answer = await visit.send(pathOf(image, "png"));
  const expected = {
    "Content-Security-Policy": PICTURE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "cross-origin",
  };
  const changed = Object.entries(expected).filter(([name, value]) => headerOf(answer, name) !== value);
  const safety =
    changed.length === 0
      ? ok("safety headers", "arrive")
      : problem(
          "safety headers",
          `${changed.map(([name]) => name).join(" and ")} of pictures arrive changed, or not at all`,
          "Have whatever is in front (helmet, add_header) leave them as they are below the mount point",
        );
  return [safety, cachingFinding(answer)];
};

/** How long caches may keep a picture is never longer than it lives. */
function cachingFinding(answer: Answer): Finding {
  const caching = headerOf(answer, "cache-control") ?? "";
  const sunsetMs = Date.parse(headerOf(answer, "sunset") ?? "");
  const lifeSeconds = (sunsetMs - Date.parse(headerOf(answer, "date") ?? "")) / 1000;
  const maxAge = Number(/\bmax-age=(\d+)/.exec(caching)?.[1] ?? Number.NaN);
  const isLonger = maxAge > lifeSeconds + SLACK_SECONDS;
  if (!isLonger && /\bmust-revalidate\b/.test(caching)) return ok("Cache-Control", caching);
  if (/\bno-(?:store|cache)\b/.test(caching)) return ok("Cache-Control", caching);
  return warning(
    "Cache-Control",
    `of pictures arrives as ${caching === "" ? "nothing" : caching}, so that caches may keep what was deleted`,
    "Have whatever is in front leave it as it is (nginx: no expires), and set cacheSeconds",
  );
}

/** Whether every client can have any size rendered, with no cache in front. */
export const checkSizes: MountCheck = async (visit, image) => {
  const path = `${pathOf(image, "png")}?resize=${SIDE}x${SIDE}`;
  const first = await visit.send(path);
  if (needsSignature(first)) return [ok(SIZES, "presets and signed addresses alone")];
  // Other checks say what is wrong with pictures that do not arrive.
  if (first.status !== 200 || first.body.length < WIDTH_AT + 4) return [];
  if (first.body.readUInt32BE(WIDTH_AT) !== SIDE) return [ok(SIZES, "the next larger step")];
  return [cacheFinding(await visit.send(path))];
};

/** Whether a picture was refused because its address is not signed. */
export function needsSignature(answer: Answer): boolean {
  return answer.status === 403 && problemDetail(answer)?.startsWith("resize, convert and page need") === true;
}

function cacheFinding(repeated: Answer): Finding {
  const shown = OF_CACHES.find((name) => headerOf(repeated, name) !== undefined);
  if (shown !== undefined) return ok(SIZES, `any, behind a cache (${shown})`);
  return warning(
    SIZES,
    "any is rendered for every client, and no header of a reply shows a cache in front",
    'Set sizes: "steps" or "signed", or put a cache in front',
  );
}
