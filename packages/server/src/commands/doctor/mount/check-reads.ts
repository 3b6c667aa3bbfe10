import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, problemDetail } from "./answer.ts";
import { remedies } from "./remedies.ts";
import type { UploadedImage } from "./uploaded-image.ts";
import { type MountCheck, type MountVisit, pathOf } from "./visit.ts";

const RANGE_BYTES = 10;
const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";
/** Tolerance for clocks that differ and show whole seconds. */
const SLACK_SECONDS = 60;
const LARGE_PICTURE = "large picture";
const SIZES = "sizes";
/** Smaller than the test picture, and not a step of the service. */
const SIDE = 3;
/** Where the header of a PNG has its width (PNG 3, clause 11.2.1). */
const WIDTH_AT = 16;
/** Headers that caches add to replies, on a hit or a miss. */
const OF_CACHES = ["age", "cache-status", "x-cache", "x-cache-status", "cf-cache-status", "x-varnish"];

/** Whether full, range and conditional requests for pictures work. */
export const checkReads: MountCheck = async (visit, image) => {
  const path = pathOf(image, "png");
  const whole = await visit.send(path);
  if (whole.status !== 200) {
    return [problem("reading", `the reply for the picture is ${describeAnswer(whole)}`, remedies.ownErrors)];
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
  if (size === null || body.length === size) return ok("reading", "the picture arrives unchanged");
  return problem(
    "reading",
    `${body.length} of ${size} bytes arrive`,
    "Forward pictures unchanged: no-transform forbids proxies to recompress them",
  );
}

async function tryHead(visit: MountVisit, path: string, whole: Answer): Promise<Finding> {
  const answer = await visit.send(path, { method: "HEAD" });
  if (answer.status !== 200) return problem("HEAD", `answers ${answer.status}`, remedies.allowMethods);
  const length = headerOf(answer, "content-length");
  return length === String(whole.body.length)
    ? ok("HEAD", "same headers as GET, without the picture")
    : warning(
        "HEAD",
        `has the Content-Length ${length ?? "(none)"}`,
        "Forward Content-Length in replies to HEAD",
      );
}

async function tryRange(visit: MountVisit, path: string, whole: Answer): Promise<Finding> {
  const answer = await visit.send(path, { headers: { Range: `bytes=0-${RANGE_BYTES - 1}` } });
  const { status, body } = answer;
  if (status === 206 && body.equals(whole.body.subarray(0, RANGE_BYTES)))
    return ok("Range", "parts can be read");
  const what = status === 206 ? "206 with other bytes" : describeAnswer(answer);
  return warning("Range", `answers ${what}`, "Forward Range, Content-Range and Accept-Ranges");
}

async function tryValidators(visit: MountVisit, path: string, whole: Answer): Promise<Finding> {
  const etag = headerOf(whole, "etag");
  if (etag === undefined) {
    return warning("ETag", "is removed, so unchanged pictures are sent again", "Forward ETag");
  }
  if (etag.startsWith("W/")) return warning("ETag", "is made weak in transit", remedies.noCompression);
  const answer = await visit.send(path, { headers: { "If-None-Match": etag } });
  return answer.status === 304
    ? ok("ETag", "unchanged pictures are not sent again")
    : warning("ETag", `the reply to If-None-Match is ${describeAnswer(answer)}`, "Forward If-None-Match");
}

/** Many proxies compress text and then change its ETag. */
async function tryCompression(visit: MountVisit, image: UploadedImage): Promise<Finding> {
  const plain = await visit.send(pathOf(image, "json"));
  const compressed = await visit.send(pathOf(image, "json"), { headers: { "Accept-Encoding": "gzip, br" } });
  const encoding = headerOf(compressed, "content-encoding") ?? "identity";
  const etag = headerOf(compressed, "etag");
  if (etag === headerOf(plain, "etag")) return ok("compression", encoding === "identity" ? "none" : encoding);
  const detail = `${encoding} changes the ETag to ${etag ?? "none"}, so If-Match fails`;
  return warning("compression", detail, remedies.noCompression);
}

/** Whether the headers arrive that stop scripts in SVG pictures. */
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
          `${changed.map(([name]) => name).join(" and ")} of pictures are changed or missing`,
          "Let the proxy or middleware in front (helmet, add_header) leave them unchanged below the mount point",
        );
  return [safety, cachingFinding(answer)];
};

/** Headers of GET that a proxy loses if it sends the file itself (`sendfile`) and is not told to keep them. */
const OF_FILES = [
  ...["Content-Type", "Content-Disposition", "Cache-Control", "ETag", "Last-Modified", "Sunset"],
  ...["Content-Security-Policy", "X-Content-Type-Options", "Cross-Origin-Resource-Policy"],
];

/** Whether a large picture arrives with the headers of its HEAD, which the service always sends itself. */
export const checkLargeRead: MountCheck = async (visit, image) => {
  const path = pathOf(image, "png");
  const head = await visit.send(path, { method: "HEAD" });
  const { body, ...whole } = await visit.send(path);
  const sendfile = "Check the option sendfile, and the lines of the proxy for it: see docs/mounting.md";
  if (whole.status !== 200 || body.length === 0) {
    const found = body.length === 0 ? "empty" : describeAnswer({ ...whole, body });
    return [problem(LARGE_PICTURE, `the reply for a large picture is ${found}`, sendfile)];
  }
  const changed = OF_FILES.filter((name) => headerOf({ ...whole, body }, name) !== headerOf(head, name));
  return changed.length === 0
    ? [ok(LARGE_PICTURE, "arrives with all headers")]
    : [problem(LARGE_PICTURE, `${changed.join(" and ")} are changed or missing, unlike with HEAD`, sendfile)];
};

/** Whether caches may keep a picture no longer than its lifetime. */
function cachingFinding(answer: Answer): Finding {
  const caching = headerOf(answer, "cache-control") ?? "";
  if (headerOf(answer, "set-cookie") !== undefined && !/\b(?:private|no-store)\b/i.test(caching)) {
    return warning(
      "Cache-Control",
      `of pictures is ${caching === "" ? "missing" : caching}, beside Set-Cookie: a shared cache may send the cookie of one client to others`,
      "Let no proxy or middleware in front set cookies on pictures: see docs/mounting.md#cookies",
    );
  }
  const sunsetMs = Date.parse(headerOf(answer, "sunset") ?? "");
  const lifeSeconds = (sunsetMs - Date.parse(headerOf(answer, "date") ?? "")) / 1000;
  const maxAge = Number(/\bmax-age=(\d+)/.exec(caching)?.[1] ?? Number.NaN);
  const isLonger = maxAge > lifeSeconds + SLACK_SECONDS;
  if (!isLonger && /\bmust-revalidate\b/.test(caching)) return ok("Cache-Control", caching);
  if (/\bno-(?:store|cache)\b/.test(caching)) return ok("Cache-Control", caching);
  return warning(
    "Cache-Control",
    `${caching === "" ? "is missing on pictures" : `of pictures is ${caching}`}, so caches may keep deleted pictures`,
    "Let the proxy in front leave it unchanged (nginx: no expires), and set cacheSeconds",
  );
}

/** Whether any client can request any size without a cache in front. */
export const checkSizes: MountCheck = async (visit, image) => {
  const path = `${pathOf(image, "png")}?resize=${SIDE}x${SIDE}`;
  const first = await visit.send(path);
  if (needsSignature(first)) return [ok(SIZES, "only presets and signed addresses")];
  // Other checks report pictures that do not arrive.
  if (first.status !== 200 || first.body.length < WIDTH_AT + 4) return [];
  if (first.body.readUInt32BE(WIDTH_AT) !== SIDE) return [ok(SIZES, "the next larger step")];
  return [cacheFinding(await visit.send(path))];
};

/** Whether a picture was rejected because its address is not signed. */
export function needsSignature(answer: Answer): boolean {
  return (
    answer.status === 403 && /^resize, [a-z, ]+ need an address signed/.test(problemDetail(answer) ?? "")
  );
}

function cacheFinding(repeated: Answer): Finding {
  const shown = OF_CACHES.find((name) => headerOf(repeated, name) !== undefined);
  if (shown !== undefined) return ok(SIZES, `any, behind a cache (${shown})`);
  return warning(
    SIZES,
    "any client can request any size, and no reply header shows a cache in front",
    'Set sizes: "steps" or "signed", or put a cache in front',
  );
}
