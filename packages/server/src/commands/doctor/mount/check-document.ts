import { type Finding, ok, problem } from "../finding.ts";
import { describeAnswer } from "./answer.ts";
import { needsSignature } from "./check-sizes.ts";
import { uploadFinding } from "./check-upload.ts";
import { pathOf } from "./mount-check.ts";
import { twoPagePdf } from "./probe-files.ts";
import { untilReady } from "./until-ready.ts";
import type { MountVisit } from "./visit.ts";

const CHECK = "PDF";

/** Whether pages of documents are drawn, and the query of an address arrives. */
export async function checkDocument(visit: MountVisit): Promise<Finding[]> {
  const upload = await visit.upload({ name: "doctor.pdf", type: "application/pdf", bytes: twoPagePdf() });
  const { image } = upload;
  if (image === null) return [uploadFinding(CHECK, upload)];
  await untilReady(visit, image.id);
  const first = await visit.send(`${pathOf(image, "png")}?page=1`);
  if (needsSignature(first)) return [ok(CHECK, "its pages need signed addresses here")];
  const second = await visit.send(`${pathOf(image, "png")}?page=2`);
  const failed = [first, second].find(({ status }) => status !== 200);
  if (failed !== undefined) {
    const remedy = "Run outrigger doctor where the app runs";
    return [problem(CHECK, `a page of it is answered with ${describeAnswer(failed)}`, remedy)];
  }
  return first.body.equals(second.body)
    ? [
        problem(
          CHECK,
          "page=2 shows the first page",
          "Have whatever is in front pass the query on, and cache by it",
        ),
      ]
    : [ok(CHECK, "each page is drawn")];
}
