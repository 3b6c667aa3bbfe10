import { randomBytes } from "node:crypto";
import { checkClock, clockAheadBy } from "../check-machine.ts";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { describeAnswer, problemDetail, rate, remedies, unanswered, unexpected } from "./advice.ts";
import { checkUploadPage, IMAGE_CHECKS } from "./check-image.ts";
import { noisePng, UPLOAD_CHECKS } from "./check-uploads.ts";
import {
  type Answer,
  exchange,
  headerOf,
  MountVisit,
  memberOf,
  type UploadedImage,
  type VisitOptions,
} from "./visit.ts";

/** An address with a reply by which a mount can be recognized. */
const HELLO_PATH = "/api/images.json";
const MAX_REDIRECTS = 3;
const SOON_DAYS = 14;
const TWIN_SILENCE_MS = 5_000;

/** Checks a running service from outside, as a client, and leaves no data behind. */
export async function* examineMount(options: VisitOptions): AsyncGenerator<Finding> {
  const visit = new MountVisit(options);
  const { findings, hello } = await checkReach(visit);
  const lookup = hello === null ? [] : await findingsOf("lookup", () => checkLookupMount(visit));
  if (hello === null || !isImageService(hello)) {
    // A mount with only the lookup is valid.
    if (!lookup.some(({ status }) => status === "ok")) return yield* findings;
    yield ok("mount", `${visit.base} has only the email lookup`);
    return yield* lookup;
  }
  yield* findings;
  yield checkTls(visit.base, hello);
  const twin = plainTwinOf(visit.base);
  if (twin !== null) yield await checkPlainTwin(twin);
  for (const [name, check] of Object.entries(MOUNT_CHECKS)) yield* await findingsOf(name, () => check(visit));
  yield* lookup;
  yield* examineUploads(visit, hello);
}

async function* examineUploads(visit: MountVisit, hello: Answer): AsyncGenerator<Finding> {
  // Date has whole seconds, so it may be up to 1 s before the time of the reply.
  let clock = clockReading(hello, headerOf(hello, "Date"), 1000);
  let waiting: Promise<Finding[]>[] = [];
  visit.clockAheadMs = clockAheadBy(clock);
  try {
    const { finding, image } = await checkUpload(visit);
    yield finding;
    if (image === undefined) return;
    // The clock of the app; the Date header may come from a proxy.
    clock = clockReading(image.answer, String(memberOf(image.answer, "createdAt")));
    visit.clockAheadMs = clockAheadBy(clock);
    // These checks mostly wait, so they run beside the others.
    waiting = Object.entries(UPLOAD_CHECKS).map(([name, check]) => findingsOf(name, () => check(visit)));
    for (const [name, check] of Object.entries(IMAGE_CHECKS))
      yield* await findingsOf(name, () => check(visit, image));
    for (const found of waiting) yield* await found;
  } catch (error) {
    yield unanswered("upload", error);
  } finally {
    yield checkClock("clock", clock);
    // Their uploads must be deleted, too.
    await Promise.all(waiting);
    const left = await visit.leave();
    if (left.length > 0)
      yield warning("leaving", `${left.join(" and ")} could not be deleted`, "They expire within a day");
  }
}

/** Whether a file can be uploaded. @returns The image that the other checks use, if one was created. */
export async function checkUpload(visit: MountVisit): Promise<{ finding: Finding; image?: UploadedImage }> {
  let upload = await visit.upload(noisePng(4));
  // The clock of the mount is so far ahead that the requested expiry is in the past.
  if (problemDetail(upload.answer).includes("expiresAt")) upload = await visit.upload(noisePng(4), {}, false);
  const { answer } = upload;
  if (upload.image !== undefined) return { finding: ok("upload", "accepted"), ...upload };
  const isRefused = answer.status === 401 || answer.status === 403;
  return { finding: unexpected("upload", answer, isRefused ? "rejected with " : "the reply to POST is ") };
}

/** The findings of a check; one problem if there was no reply. */
async function findingsOf(name: string, run: () => Promise<Finding[]>): Promise<Finding[]> {
  return await run().catch((error: unknown) => [unanswered(name, error)]);
}

function clockReading({ sentMs, arrivedMs }: Answer, shown: string, precisionMs = 1) {
  const beforeMs = Math.floor(sentMs / precisionMs) * precisionMs;
  return { beforeMs, shownMs: Date.parse(shown), afterMs: arrivedMs };
}

/** Whether there is a mount. If the address redirects, the visit continues at the target. @returns `hello`: the last reply. */
async function checkReach(visit: MountVisit): Promise<{ findings: Finding[]; hello: Answer | null }> {
  const findings: Finding[] = [];
  for (let redirects = 0; ; redirects++) {
    const { base } = visit;
    let hello: Answer;
    try {
      hello = await visit.send(HELLO_PATH);
    } catch (error) {
      return { findings: [...findings, unanswered("mount", error, `${base}: `)], hello: null };
    }
    const location = headerOf(hello, "Location");
    const target = URL.canParse(location, base) ? new URL(location, base).href.replace(/\/$/, "") : "";
    if (!target.endsWith(HELLO_PATH) || redirects === MAX_REDIRECTS)
      return { findings: [...findings, await helloFinding(visit, hello)], hello };
    visit.base = target.slice(0, -HELLO_PATH.length);
    const fault = base.replace(/^http:/, "https:") !== visit.base && `${base} redirects to ${visit.base}`;
    findings.push(rate("redirect", fault));
  }
}

/** Whether this is the reply of the image service to a GET of the address for creates. */
function isImageService(answer: Answer): boolean {
  return answer.status === 405 && /\bPOST\b/.test(headerOf(answer, "Allow"));
}

async function helloFinding(visit: MountVisit, hello: Answer): Promise<Finding> {
  const { base } = visit;
  if (isImageService(hello)) return ok("mount", `${base} answers in ${hello.arrivedMs - hello.sentMs} ms`);
  const isRefused = [401, 403].includes(hello.status) || hello.status >= 500 || problemDetail(hello) !== "";
  if (isRefused && hello.status !== 404)
    return { ...unexpected("mount", hello, `${base}: `), status: "problem" };
  const said = `${base}: ${describeAnswer(hello)}: Outrigger is not mounted here`;
  const places: string[] = [];
  for (const place of otherPlaces(base)) {
    visit.base = place;
    // No reply means no mount. The host itself has already responded.
    const answer = await visit.send(HELLO_PATH).catch(() => null);
    if (answer !== null && isImageService(answer)) places.push(place);
  }
  visit.base = base;
  return places.length === 0
    ? problem("mount", said, "Use the path at which it is mounted")
    : problem("mount", `${said}, but at ${places.join(" and ")}`, "Use that address");
}

/** Other addresses of the host that may be the mount: the parent paths, then common mount points. */
export function otherPlaces(base: string): string[] {
  const { origin, pathname } = new URL(base);
  const segments = pathname.split("/").filter((segment) => segment !== "");
  const above = segments.map((_, index) => `/${segments.slice(0, index).join("/")}`.replace(/\/$/, ""));
  const paths = new Set([...above.reverse(), "", "/img", "/images", "/image", "/i", "/outrigger"]);
  return [...paths].map((path) => origin + path).filter((address) => address !== base);
}

/** Whether requests to a mount are protected by TLS. @param hello The reply of the mount. */
export function checkTls(base: string, { isLoopback, certificateDays: days, tlsVersion }: Answer): Finding {
  if (base.startsWith("http:") && isLoopback) return ok("TLS", "none, for development on this machine");
  const plain = "the service answers plain http: pictures and PINs can be read in transit";
  if (base.startsWith("http:"))
    return problem("TLS", plain, 'Terminate TLS in front, and keep the option tls at "required"');
  const detail = `${tlsVersion}, the certificate is valid for ${days} days`;
  if (days === null || days >= SOON_DAYS) return ok("TLS", detail);
  return warning("TLS", detail, "Renew the certificate, automatically if possible");
}

/** The `http:` address beside an `https:` address; `null` for an explicit port. */
export function plainTwinOf(base: string): string | null {
  const { protocol, port } = new URL(base);
  return protocol === "https:" && port === "" ? base.replace(/^https:/, "http:") : null;
}

/**
 * Whether the plain http address beside an https address exposes nothing.
 * @param twin The mount at `http:`. No secret of the host app is sent to it.
 */
export async function checkPlainTwin(twin: string): Promise<Finding> {
  // Whatever the reason for no reply, no PIN can be sent there.
  const answer = await exchange(new URL(twin + HELLO_PATH), { silenceMs: TWIN_SILENCE_MS }).catch(() => null);
  const fault = answer !== null && isImageService(answer) && `${twin} serves images without TLS`;
  return rate("plain http", fault);
}

/** Whether error replies of the service reach the client. */
async function checkErrors(visit: MountVisit): Promise<Finding[]> {
  const answer = await visit.send(`/api/images/${randomBytes(16).toString("base64url")}.json`);
  const isOurs = answer.status === 404 && typeof memberOf(answer, "instance") === "string";
  return [rate("error replies", !isOurs && `the reply for an unknown image is ${describeAnswer(answer)}`)];
}

/** Whether the email lookup responds correctly. Empty if it is not mounted. */
async function checkLookupMount(visit: MountVisit): Promise<Finding[]> {
  const answer = await visit.send("/v2/account");
  const id = memberOf(answer, "errors", "0", "id");
  if (id === "authentication_failed") return [ok("lookup", "requires a key")];
  if (memberOf(answer, "data") !== undefined) return [ok("lookup", "accepts the key")];
  if (answer.status === 403 && id !== undefined)
    return [problem("lookup", "requires TLS", remedies.trustProxy)];
  return answer.status < 500 ? [] : [unexpected("lookup", answer, "/v2/account answers ")];
}

/** Checks that need no image, by name, in their order. */
export const MOUNT_CHECKS: Readonly<Record<string, (visit: MountVisit) => Promise<Finding[]>>> = {
  "error replies": checkErrors,
  "upload page": checkUploadPage,
};
