import { createHash } from "node:crypto";
import { type Finding, ok, problem } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, problemDetail } from "./answer.ts";
import { remedies } from "./remedies.ts";
import type { MountCheck, MountVisit } from "./visit.ts";

const HTML = { Accept: "text/html" };
const LEAVE_PAGES =
  "Let the proxy or middleware in front (helmet, add_header, minifiers) leave pages below the mount point unchanged";

/** Whether people can upload in a browser. Empty if the service has no pages. */
export async function checkUploadPage(visit: MountVisit): Promise<Finding[]> {
  const answer = await visit.send("/", { headers: HTML });
  if (!isOurPage(answer)) return [];
  const finding = pageFinding("upload page", answer);
  if (finding.status !== "ok") return [finding];
  const missing = await missingFile(visit, answer.body.toString("utf8"));
  return [
    missing === null ? finding : problem("upload page", missing, "Forward every path below the mount point"),
  ];
}

/** Whether people can view an image in a browser and edit it with a form. Empty if the service has no pages. */
export const checkImagePages: MountCheck = async (visit, image) => {
  const viewer = await visit.send(`/${image.id}/view`, { headers: HTML });
  // Pages are not configured, or the page is not Outrigger's.
  if (viewer.status === 501 || (viewer.status === 404 && problemDetail(viewer) !== null)) return [];
  const form = await visit.send(`/${image.id}/edit`, {
    headers: { ...HTML, "X-Service-Image-Pin": image.pin },
  });
  return [pageFinding("viewer", viewer), editPageFinding(form), await tryForm(visit, image)];
};

function isOurPage(answer: Answer): boolean {
  return answer.status === 200 && answer.body.includes('<body class="upload">');
}

/** Whether a page arrives unchanged. Its policy names the hash of its style, so browsers do not apply a changed style. */
function pageFinding(check: string, answer: Answer): Finding {
  if (answer.status !== 200) return problem(check, `answers ${describeAnswer(answer)}`, remedies.ownErrors);
  const policy = headerOf(answer, "content-security-policy") ?? "";
  const page = answer.body.toString("utf8");
  const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  if (!policy.startsWith("default-src 'none';") || policy.includes(",")) {
    return problem(check, "its Content-Security-Policy is changed or missing", LEAVE_PAGES);
  }
  if (!policy.includes(`'sha256-${hash}'`)) return problem(check, "was changed in transit", LEAVE_PAGES);
  return ok(check, "arrives unchanged, with its policy");
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
        "Cache-Control: no-store or Referrer-Policy: no-referrer is missing, and its address holds the PIN",
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
  if (answer.status === 303) return ok("edit form", "is accepted");
  const said = `answers ${describeAnswer(answer)}`;
  return problem("edit form", said, answer.status >= 500 ? remedies.mountFirst : remedies.allowMethods);
};

/** The problem of the first file of a page that does not arrive; `null` if all files arrive. */
async function missingFile(visit: MountVisit, page: string): Promise<string | null> {
  for (const [, address = ""] of page.matchAll(
    /<(?:script|link)\b[^>]*\b(?:src|href)="([^"]+\/assets\/[^"]+)"/g,
  )) {
    const name = address.slice(address.lastIndexOf("/assets/"));
    const answer = await visit.send(name);
    if (answer.status !== 200) return `its file ${name} answers ${describeAnswer(answer)}`;
  }
  return null;
}
