import { createHash, randomBytes, randomUUID } from "node:crypto";
import { printable } from "../../cli/print.ts";
import { NO_FONTS } from "./check-renderer.ts";
import { type Finding, problem, warning } from "./finding.ts";
import { DOCTOR_NAME, type Mount, noisePng, Reply, type UploadedImage } from "./mount.ts";

/** Pixels of a side of a picture of 5 MB. */
const LARGE_SIDE = 1290;
/** Reads after a change, so that a proxy in front asks several processes. */
const READS_BACK = 6;
const HTML = { Accept: "text/html" };
const PICTURE_HEADERS = {
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "cross-origin",
};
/** Headers of GET that a proxy loses if it sends the file itself (`sendfile`) and is not told to keep them. */
const OF_FILES = [
  ...["Content-Type", "Content-Disposition", "Cache-Control", "ETag", "Last-Modified", "Sunset"],
  ...Object.keys(PICTURE_HEADERS),
];
/** Headers that caches add to replies, on a hit or a miss. */
const OF_CACHES = ["age", "cache-status", "x-cache", "x-cache-status", "cf-cache-status", "x-varnish"];

const TRUST_PROXY =
  'let the app trust its proxy (Express app.set("trust proxy", 1), Koa app.proxy = true, outrigger serve trustProxy: 1), and let the proxy set X-Forwarded-Proto';
const METHODS =
  "Allow GET, HEAD, POST, PATCH, DELETE and OPTIONS and X-Service-Image-Pin in the proxy in front, and mount for all methods (app.use)";
const UNCHANGED =
  "Let the proxy or middleware in front (helmet, add_header) leave headers and bodies unchanged";

/** What to do about faults that break the service, by check. */
const PROBLEMS = {
  mount: `Start the app, check address, firewall and certificate (your own authority: NODE_EXTRA_CA_CERTS), and ${TRUST_PROXY}`,
  TLS: 'Terminate TLS in front, keep the option tls at "required", and redirect http:// to https://',
  upload:
    "Mount Outrigger before body parsers (express.json(), multer, koa-body), send the credentials of the app with --header, and let no proxy drop headers or redirect: an upload does not survive a redirect",
  addresses:
    "Set publicUrl to the address of the request, or let the proxy forward Host (nginx: proxy_set_header Host $http_host), X-Forwarded-Proto and Location",
  pictures: UNCHANGED,
  pages: UNCHANGED,
  PATCH: METHODS,
  "shared storage":
    "Configure the same storage and secret for all processes; storage in memory is visible to one process only",
  fonts: "Run outrigger doctor on the machine of the app",
  "large upload":
    "Raise the body limit of the proxy in front to maxUploadBytes (nginx: client_max_body_size 26m)",
  "large picture": "Check the option sendfile, and the lines of the proxy for it: see docs/mounting.md",
  "slow upload": "Raise the timeouts of the proxy in front (nginx: client_body_timeout, proxy_read_timeout)",
  DELETE: METHODS,
};

/** What to do about faults that concern some clients, by check. */
const WARNINGS = {
  redirect: "Give clients that address, and set publicUrl to it: an upload does not survive a redirect",
  certificate: "Renew the certificate, automatically if possible",
  requests: "Let the proxy in front forward User-Agent, Range, If-None-Match, If-Match and Prefer unchanged",
  replies:
    "Let the proxy in front forward replies unchanged, without compression (nginx: gzip off) or error pages of its own (nginx: proxy_intercept_errors off)",
  "Cache-Control":
    "Let nothing in front change it (nginx: no expires) or set cookies: see docs/mounting.md#cookies",
  sizes: 'Set sizes: "steps" or "signed", or put a cache in front',
  "after deletion": "Lower cacheSeconds, and let the cache in front obey Cache-Control",
};

type CheckName = keyof typeof PROBLEMS | keyof typeof WARNINGS;

/** Rates what a check found: clauses, `false` for what is as it should be. */
export function found(check: CheckName, ...faults: readonly (string | false)[]): Finding {
  const fault = faults.filter((each) => each !== false).join("; ") || false;
  const remedy = { ...PROBLEMS, ...WARNINGS }[check];
  return check in WARNINGS ? warning(check, fault, remedy) : problem(check, fault, remedy);
}

/** Rates a refused upload. A limit of the service itself may be intended. */
export function refused(check: CheckName, reply: Reply): Finding {
  const fault = `answers ${reply}`;
  const isLimit = [408, 413, 429].includes(reply.status) && reply.problemDetail !== "";
  const remedy = "Raise uploadIdleMs, maxUploadBytes or rateLimits of the service if clients need more";
  return isLimit ? warning(check, fault, remedy) : found(check, fault);
}

type ImageCheck = (mount: Mount, image: UploadedImage) => AsyncGenerator<Finding>;

/** The checks of an uploaded image in their order, and the one that fails without a reply. */
export const IMAGE_CHECKS: readonly (readonly [check: CheckName, findings: ImageCheck])[] = [
  ["addresses", checkAddresses],
  ["pictures", checkReading],
  ["sizes", checkSizes],
  ["pages", checkPages],
  ["PATCH", checkEditing],
  ["fonts", checkFonts],
  ["large upload", checkLargeImage],
  ["slow upload", checkSlowUpload],
  ["DELETE", checkDeletion],
];

async function* checkAddresses({ base }: Mount, { created }: UploadedImage): AsyncGenerator<Finding> {
  const given = [created.member("url"), created.member("editUrl"), created.header("Location")];
  const wrong = given.map(String).find((each) => !each.startsWith(`${base}/`));
  // The query of an edit address has the PIN.
  const shown = printable(wrong?.replace(/\?.*$/s, "") || "no Location");
  yield found("addresses", wrong !== undefined && `replies name ${shown}, but the request went to ${base}`);
}

/** Whether requests for pictures, and their replies, pass a proxy unchanged. */
async function* checkReading(mount: Mount, image: UploadedImage): AsyncGenerator<Finding> {
  const { created, picture, record } = image;
  const whole = await mount.send(picture);
  if (whole.status !== 200) return yield found("pictures", `answers ${whole}`);
  const etag = whole.header("ETag");
  const head = await mount.send(picture, "HEAD");
  const range = await mount.send(picture, "GET", { Range: "bytes=0-9" });
  const again = await mount.send(picture, "GET", { "If-None-Match": etag });
  const plain = await mount.send(record);
  const zipped = await mount.send(record, "GET", { "Accept-Encoding": "gzip, br" });
  const unknown = await mount.send(`/api/images/${randomBytes(16).toString("base64url")}.json`);
  const [size, agent] = [plain.member("size"), plain.member("agent", "name")];
  const { length } = whole.body;
  const caching = whole.header("Cache-Control");
  const isPrivate = /\b(?:private|no-store)\b/i.test(caching);
  // nginx adds the max-age of `expires` to the one of the service.
  const isBounded = /must-revalidate|no-store|no-cache/.test(caching) && !/max-age.*max-age/.test(caching);
  yield found(
    "requests",
    agent !== DOCTOR_NAME && printable(`User-Agent arrives as ${agent}`),
    created.status === 201 && "Prefer: respond-async does not arrive",
    (range.status !== 206 || range.body.length !== 10) && `Range answers ${range}`,
    etag !== "" && again.status !== 304 && "If-None-Match does not arrive",
  );
  yield found(
    "replies",
    !etag.startsWith('"') && "the ETag of pictures is missing or weak",
    head.header("Content-Length") !== `${size}` && "HEAD has another Content-Length",
    zipped.header("ETag") !== plain.header("ETag") && "compression changes the ETag, so If-Match fails",
    created.status === 202 && created.header("Retry-After") === "" && "Retry-After is missing",
    typeof unknown.member("instance") !== "string" && `the reply for an unknown image is ${unknown}`,
  );
  yield found(
    "pictures",
    length !== size && `${length} of ${size} bytes arrive`,
    ...Object.entries(PICTURE_HEADERS).map(
      ([name, value]) => whole.header(name) !== value && `${name} is changed or missing`,
    ),
  );
  yield found(
    "Cache-Control",
    whole.header("Set-Cookie") !== "" && !isPrivate && "caches may send the cookie of one client to others",
    !isBounded && `of pictures is "${caching}", so caches may keep deleted pictures`,
  );
}

async function* checkSizes(mount: Mount, { picture }: UploadedImage): AsyncGenerator<Finding> {
  const resized = `${picture}?resize=3x3`;
  const { status, body } = await mount.send(resized);
  // An unsigned address is refused, and a step is larger. The width is at byte 16 of a PNG.
  const isAny = status === 200 && body.length > 20 && body.readUInt32BE(16) === 3;
  const repeated = await mount.send(resized);
  const isCached = OF_CACHES.some((name) => repeated.header(name) !== "");
  const fault = "any client can request any size, and no reply header shows a cache in front";
  yield found("sizes", isAny && !isCached && fault);
}

/** Whether pages arrive unchanged. Nothing if the service has none. */
async function* checkPages(mount: Mount, { id, pin }: UploadedImage): AsyncGenerator<Finding> {
  const upload = await mount.send("/", "GET", HTML);
  const viewer = await mount.send(`/${id}/view`, "GET", HTML);
  if (viewer.status === 501 || (viewer.status === 404 && viewer.problemDetail !== "")) return;
  const edit = await mount.send(`/${id}/edit`, "GET", { ...HTML, "X-Service-Image-Pin": pin });
  const isUncached = edit.header("Cache-Control").includes("no-store");
  const isSecret = isUncached && edit.header("Referrer-Policy") === "no-referrer";
  yield found(
    "pages",
    // The host app may have a page of its own there.
    upload.body.includes('<body class="upload">') && pageFault("the upload page", upload),
    pageFault("the viewer", viewer),
    pageFault("the edit page", edit),
    !isSecret && "the edit page lacks no-store or no-referrer, and its address holds the PIN",
  );
}

/** What is wrong with a page. Its policy names the hash of its style: browsers do not apply a changed style. */
function pageFault(page: string, reply: Reply): string | false {
  if (reply.status !== 200) return `${page} answers ${reply}`;
  const policy = reply.header("Content-Security-Policy");
  const style = /<style>(.*?)<\/style>/s.exec(reply.body.toString("utf8"))?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  const isIntact = policy.startsWith("default-src 'none';") && policy.includes(`'sha256-${hash}'`);
  return (!isIntact || policy.includes(",")) && `${page} or its Content-Security-Policy was changed`;
}

/** Whether JSON changes an image, every process sees the change at once, and a stale `If-Match` is rejected. */
async function* checkEditing(mount: Mount, { record, pin }: UploadedImage): AsyncGenerator<Finding> {
  const rename = (name: string, more = {}) => {
    const headers = { "Content-Type": "application/json", "X-Service-Image-Pin": pin, ...more };
    return mount.send(record, "PATCH", headers, [Buffer.from(JSON.stringify({ name }))]);
  };
  const etag = (await mount.send(record)).header("ETag");
  const renamed = await rename("renamed");
  yield found("PATCH", renamed.member("name") !== "renamed" && `answers ${renamed}`);
  const isLost = renamed.status === 404 || renamed.status === 410;
  if (renamed.status !== 200 && !isLost) return;
  let stale: string | false = false;
  for (let index = 0; index < READS_BACK; index++) {
    const reply = await mount.send(record);
    if (isLost || reply.member("name") !== "renamed") stale = `an edited image answers ${reply}`;
  }
  yield found("shared storage", stale);
  const late = await rename("lost", { "If-Match": etag });
  const isAccepted = etag !== "" && late.status !== 412;
  yield found("requests", isAccepted && `If-Match does not arrive: an edit of an old record answers ${late}`);
}

/** Whether text is rendered: a letter must not look like a character that no font has. */
async function* checkFonts(mount: Mount): AsyncGenerator<Finding> {
  const pictures: Buffer[] = [];
  for (const text of ["R", "\u{fdd0}"]) {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="64">' +
      // Wide strokes hide the digits in the box of a missing character.
      `<text x="16" y="44" font-size="32" stroke="#000" stroke-width="24">${text}</text></svg>`;
    const image = await mount.upload(new Blob([svg], { type: "image/svg+xml" }));
    const reply = image instanceof Reply ? image : await mount.send(image.picture);
    if (reply.status !== 200) return yield found("fonts", `the reply for text is ${reply}`);
    pictures.push(reply.body);
  }
  const [letter, missing] = pictures;
  yield letter !== undefined && missing?.equals(letter) ? NO_FONTS : found("fonts");
}

/** Whether a file of several megabytes can be uploaded, and read with the headers of its HEAD, which the service sends itself. */
async function* checkLargeImage(mount: Mount): AsyncGenerator<Finding> {
  const image = await mount.upload(noisePng(LARGE_SIDE));
  if (image instanceof Reply) return yield refused("large upload", image);
  yield found("large upload");
  const head = await mount.send(image.picture, "HEAD");
  const reply = await mount.send(image.picture);
  const changed = OF_FILES.filter((name) => reply.header(name) !== head.header(name)).join(" and ");
  let fault = changed !== "" && `${changed} are changed or missing, unlike with HEAD`;
  if (reply.body.length === 0) fault = "the reply for a large picture is empty";
  if (reply.status !== 200) fault = `answers ${reply}`;
  yield found("large picture", fault);
}

/** Whether an upload survives a pause of the client, as with phones. */
async function* checkSlowUpload(mount: Mount): AsyncGenerator<Finding> {
  const image = await mount.upload(noisePng(4), mount.patienceMs);
  yield image instanceof Reply ? refused("slow upload", image) : found("slow upload");
}

/** Whether a deleted image is gone at once, in every process and in caches. */
async function* checkDeletion(mount: Mount, image: UploadedImage): AsyncGenerator<Finding> {
  const reply = await mount.remove(image);
  yield found("DELETE", reply.status !== 204 && `answers ${reply}`);
  if (reply.status !== 204) return;
  const statuses: number[] = [];
  // No cache has these addresses.
  for (let index = 0; index < READS_BACK; index++)
    statuses.push((await mount.send(`${image.picture}?doctor=${randomUUID()}`)).status);
  const isServed = statuses.some((status) => status !== 410 && status !== 404);
  yield found("shared storage", isServed && "a deleted image is still served");
  const cached = await mount.send(image.picture);
  yield found(
    "after deletion",
    !isServed && cached.status === 200 && "a cache in front still serves the picture",
  );
}
