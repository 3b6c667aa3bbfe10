import { printable } from "../../../cli/printable.ts";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, isRedirect, problemDetail } from "./answer.ts";
import { type ConnectionTrouble, explainTrouble } from "./connection-trouble.ts";
import { otherPlaces } from "./mount-url.ts";
import { remedies } from "./remedies.ts";
import type { MountVisit } from "./visit.ts";

/** An address that every mount answers in a way that nothing else does. */
export const HELLO_PATH = "/api/images.json";

const CHECK = "mount";
const MAX_REDIRECTS = 3;

/** What is at an address. */
export interface Reached {
  /** At least one. */
  findings: Finding[];
  /** Whether anybody answers there. */
  isThere: boolean;
  /** The reply of the image service; `null` where there is none. */
  hello: Answer | null;
}

/** Whether there is a mount. Where the address redirects to another, the visit goes on there. */
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

/** Whether this is how the image service answers a GET of where images are created. */
export function isImageService(answer: Answer): boolean {
  return answer.status === 405 && /\bPOST\b/.test(headerOf(answer, "allow") ?? "");
}

/** Where the mount is that a redirect leads to; `null` where it leads to something else. */
function redirectedBase(base: string, hello: Answer): string | null {
  const location = headerOf(hello, "location") ?? "";
  if (!URL.canParse(location, base)) return null;
  const { origin, pathname } = new URL(location, base);
  const path = pathname.replace(/\/$/, "");
  const target = origin + path.slice(0, -HELLO_PATH.length);
  return path.endsWith(HELLO_PATH) && target !== base ? target : null;
}

function redirectFinding(base: string, target: string): Finding {
  const detail = printable(`${base} leads to ${target}`);
  if (base.replace(/^http:/, "https:") === target) return ok("redirect", detail);
  const remedy = "Tell clients that address, and set publicUrl to it: an upload does not survive a redirect";
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
    return problem(
      CHECK,
      said,
      isSecure ? remedies.trustProxy : "Use https://, and put a server for TLS in front",
    );
  }
  if (detail === "This host is not served here") {
    return problem(CHECK, said, `Add ${new URL(base).host} to allowedHosts, or have the proxy pass Host on`);
  }
  if (hello.status === 401 || hello.status === 403) {
    return problem(CHECK, said, 'Give what the app asks for by --header "Name: value"');
  }
  if (hello.status >= 500) {
    return problem(CHECK, said, "Look whether the app runs, and into the logs of the proxy and of the app");
  }
  const places = await mountsAmong(visit, otherPlaces(base));
  return places.length === 0
    ? problem(CHECK, `${said}: no Outrigger is mounted here`, "Name the path that it is mounted at")
    : problem(
        CHECK,
        `${said}: no Outrigger is mounted here, but at ${places.join(" and ")}`,
        "Name that address",
      );
}

async function mountsAmong(visit: MountVisit, places: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const { base } = visit;
  for (const place of places) {
    visit.base = place;
    try {
      if (isImageService(await visit.send(HELLO_PATH))) found.push(place);
    } catch {
      // A place that does not answer is none; that the host does was seen.
    }
  }
  visit.base = base;
  return found;
}
