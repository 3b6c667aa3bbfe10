import { randomBytes } from "node:crypto";
import { printable } from "../../../cli/printable.ts";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, isRedirect, objectOf, problemDetail } from "./answer.ts";
import { type ConnectionTrouble, explainTrouble } from "./connection-trouble.ts";
import { remedies } from "./remedies.ts";
import type { MountVisit } from "./visit.ts";

const CHECK = "mount";
const MAX_REDIRECTS = 3;
const LOOKUP = "lookup";

/** An address with a reply by which a mount can be recognized. */
export const HELLO_PATH = "/api/images.json";

/** The service at an address. */
export interface Reached {
  /** At least one finding. */
  findings: Finding[];
  /** Whether there was a reply. */
  isThere: boolean;
  /** The reply of the image service; `null` without an image service. */
  hello: Answer | null;
}

/** Whether there is a mount. If the address redirects, the visit continues at the target. */
export async function checkReach(visit: MountVisit): Promise<Reached> {
  const findings: Finding[] = [];
  for (let redirects = 0; ; redirects++) {
    let hello: Answer;
    try {
      hello = await visit.send(HELLO_PATH);
    } catch (error) {
      const { detail, remedy }: ConnectionTrouble = explainTrouble(error);
      findings.push(problem(CHECK, `${visit.base}: ${detail}`, remedy));
      return { findings, isThere: false, hello: null };
    }
    const target = isRedirect(hello) ? redirectedBase(visit.base, hello) : null;
    if (target === null || redirects === MAX_REDIRECTS) {
      findings.push(await findingOf(visit, hello));
      return { findings, isThere: true, hello: isImageService(hello) ? hello : null };
    }
    findings.push(redirectFinding(visit.base, target));
    visit.base = target;
  }
}

/** Whether this is the reply of the image service to a GET of the address for creates. */
export function isImageService(answer: Answer): boolean {
  return answer.status === 405 && /\bPOST\b/.test(headerOf(answer, "allow") ?? "");
}

/** The mount that a redirect leads to; `null` if it leads elsewhere. */
function redirectedBase(base: string, hello: Answer): string | null {
  const location = headerOf(hello, "location") ?? "";
  if (!URL.canParse(location, base)) return null;
  const { origin, pathname } = new URL(location, base);
  const path = pathname.replace(/\/$/, "");
  const target = origin + path.slice(0, -HELLO_PATH.length);
  return path.endsWith(HELLO_PATH) && target !== base ? target : null;
}

function redirectFinding(base: string, target: string): Finding {
  const detail = printable(`${base} redirects to ${target}`);
  if (base.replace(/^http:/, "https:") === target) return ok("redirect", detail);
  const remedy = "Give clients that address, and set publicUrl to it: an upload does not survive a redirect";
  return warning("redirect", detail, remedy);
}

async function findingOf(visit: MountVisit, hello: Answer): Promise<Finding> {
  const { base } = visit;
  if (isImageService(hello)) {
    return ok(CHECK, `${base} answers in ${hello.arrivedMs - hello.sentMs} ms`);
  }
  const detail = problemDetail(hello);
  const said = `${base}: ${describeAnswer(hello)}`;
  if (detail?.startsWith("SSL is required")) {
    const isSecure = base.startsWith("https:");
    return problem(CHECK, said, isSecure ? remedies.trustProxy : "Use https://, and terminate TLS in front");
  }
  if (detail === "This host is not served here") {
    return problem(CHECK, said, `Add ${new URL(base).host} to allowedHosts, or let the proxy forward Host`);
  }
  if (hello.status === 401 || hello.status === 403) {
    return problem(CHECK, said, 'Send the credentials of the app with --header "Name: value"');
  }
  if (hello.status >= 500) {
    return problem(CHECK, said, "Check that the app runs, and check the logs of the proxy and of the app");
  }
  const places = await mountsAmong(visit, otherPlaces(base));
  return places.length === 0
    ? problem(CHECK, `${said}: Outrigger is not mounted here`, "Use the path at which it is mounted")
    : problem(
        CHECK,
        `${said}: Outrigger is not mounted here, but at ${places.join(" and ")}`,
        "Use that address",
      );
}

/** Other addresses of the host that may be the mount: the parent paths, then common mount points. */
export function otherPlaces(base: string): string[] {
  const { origin, pathname } = new URL(base);
  const segments = pathname.split("/").filter((segment) => segment !== "");
  const above = segments.map((_, index) => `/${segments.slice(0, index).join("/")}`.replace(/\/$/, ""));
  const paths = new Set([...above.reverse(), "", "/img", "/images", "/image", "/i", "/outrigger"]);
  return [...paths].map((path) => origin + path).filter((place) => place !== base);
}

async function mountsAmong(visit: MountVisit, places: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const { base } = visit;
  for (const place of places) {
    visit.base = place;
    try {
      if (isImageService(await visit.send(HELLO_PATH))) found.push(place);
    } catch {
      // No reply means no mount. The host itself has already responded.
    }
  }
  visit.base = base;
  return found;
}

/** Whether error replies of the service reach the client. */
export async function checkErrors(visit: MountVisit): Promise<Finding[]> {
  const path = `/api/images/${randomBytes(16).toString("base64url")}.json`;
  const answer = await visit.send(path);
  if (answer.status === 404 && problemDetail(answer) !== null) {
    const { instance } = objectOf(answer);
    if (typeof instance === "string") return [ok("error replies", "arrive unchanged")];
  }
  return [
    warning(
      "error replies",
      `the reply for an unknown image is ${describeAnswer(answer)}`,
      remedies.ownErrors,
    ),
  ];
}

/** Whether the email lookup responds correctly. Empty if it is not mounted. */
export async function checkLookupMount(visit: MountVisit): Promise<Finding[]> {
  const answer = await visit.send("/v2/account");
  const { errors, data } = objectOf(answer);
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const id = typeof first === "object" && first !== null ? Object.entries(first) : [];
  const said = describeAnswer(answer);
  if (answer.status === 401 && id.some(([, value]) => value === "authentication_failed")) {
    return [ok(LOOKUP, "requires a key")];
  }
  if (answer.status === 200 && typeof data === "object") return [ok(LOOKUP, "accepts the key")];
  if (answer.status === 403 && id.length > 0) return [problem(LOOKUP, "requires TLS", remedies.trustProxy)];
  const isJson = /\bjson\b/.test(headerOf(answer, "content-type") ?? "");
  if (answer.status === 401 || answer.status >= 500) {
    const remedy = isJson ? "Check the logs of the app" : remedies.ownErrors;
    return [warning(LOOKUP, `/v2/account answers ${said}`, remedy)];
  }
  return [];
}
