import { createHash } from "node:crypto";
import { type Finding, ok, problem } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, problemDetail } from "./answer.ts";
import { remedies } from "./remedies.ts";
import type { MountCheck, MountVisit } from "./visit.ts";

const HTML = { Accept: "text/html" };
const LEAVE_PAGES =
  "Have whatever is in front (helmet, add_header, minifiers) leave pages below the mount point alone";

/** Whether people can upload in a browser. None where the service has no pages. */
export async function checkUploadPage(visit: MountVisit): Promise<Finding[]> {
  const answer = await visit.send("/", { headers: HTML });
  if (!isOurPage(answer)) return [];
  const finding = pageFinding("upload page", answer);
  if (finding.status !== "ok") return [finding];
  const missing = await missingFile(visit, answer.body.toString("utf8"));
  return [
    missing === null
      ? finding
      : problem("upload page", missing, "Let everything below the mount point through"),
  ];
}

/** Whether people can look at an image in a browser, and change it with a form. None where the service has no pages. */
export const checkImagePages: MountCheck = async (visit, image) => {
  const viewer = await visit.send(`/${image.id}/view`, { headers: HTML });
  // Not configured, or not Outrigger's: without pages there is neither.
  if (viewer.status === 501 || (viewer.status === 404 && problemDetail(viewer) !== null)) return [];
  const form = await visit.send(`/${image.id}/edit`, {
    headers: { ...HTML, "X-Service-Image-Pin": image.pin },
  });
  return [pageFinding("viewer", viewer), editPageFinding(form), await tryForm(visit, image)];
};

function isOurPage(answer: Answer): boolean {
  return answer.status === 200 && answer.body.includes('<body class="upload">');
}

/** Whether a page arrives as it was made: else its policy, which names the hash of its style, keeps browsers from showing it. */
function pageFinding(check: string, answer: Answer): Finding {
  if (answer.status !== 200)
    return problem(check, `is answered with ${describeAnswer(answer)}`, remedies.ownErrors);
  const policy = headerOf(answer, "content-security-policy") ?? "";
  const page = answer.body.toString("utf8");
  const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  if (!policy.startsWith("default-src 'none';") || policy.includes(",")) {
    return problem(check, "its Content-Security-Policy arrives changed, or not at all", LEAVE_PAGES);
  }
  if (!policy.includes(`'sha256-${hash}'`)) return problem(check, "was changed on its way", LEAVE_PAGES);
  return ok(check, "arrives as it was made, with its policy");
}

function editPageFinding(answer: Answer): Finding {
  const finding = pageFinding("edit page", answer);
  if (finding.status !== "ok") return finding;
  const isSecret =
    headerOf(answer, "cache-control")?.includes("no-store") === true &&
    headerOf(answer, "referrer-policy") === "no-referrer";
  return isSecret
    ? finding
    : problem(
        "edit page",
        "Cache-Control: no-store or Referrer-Policy: no-referrer is gone, and its address holds the PIN",
        LEAVE_PAGES,
      );
}

const tryForm = async (visit: MountVisit, { id, pin }: Parameters<MountCheck>[1]): Promise<Finding> => {
  const form = new URLSearchParams({ pin, action: "update", name: "outrigger doctor, by form" });
  const answer = await visit.send(`/${id}/edit`, {
    method: "POST",
    headers: { ...HTML, "Content-Type": "application/x-www-form-urlencoded" },
    body: Buffer.from(form.toString()),
  });
  if (answer.status === 303) return ok("edit form", "is taken in");
  const said = `is answered with ${describeAnswer(answer)}`;
  return problem("edit form", said, answer.status >= 500 ? remedies.mountFirst : remedies.allowMethods);
};

/** The problem of the first file of a page that does not arrive; `null` if all arrive. */
async function missingFile(visit: MountVisit, page: string): Promise<string | null> {
  for (const [, address = ""] of page.matchAll(
    /<(?:script|link)\b[^>]*\b(?:src|href)="([^"]+\/assets\/[^"]+)"/g,
  )) {
    const name = address.slice(address.lastIndexOf("/assets/"));
    const answer = await visit.send(name);
    if (answer.status !== 200) return `its file ${name} is answered with ${describeAnswer(answer)}`;
  }
  return null;
}
