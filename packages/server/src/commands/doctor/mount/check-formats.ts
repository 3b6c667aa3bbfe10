import { FORMATS, TYPE_OF_FORMAT } from "../../../cli/image-formats.ts";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf } from "./answer.ts";
import { sampleFile, uploadFinding } from "./check-upload.ts";
import { pathOf } from "./mount-check.ts";
import { untilReady } from "./until-ready.ts";
import type { MountVisit } from "./visit.ts";

/** Whether a drawing is served in every format. */
export async function checkFormats(visit: MountVisit): Promise<Finding[]> {
  const upload = await visit.upload(sampleFile("SVG"));
  const { image } = upload;
  if (image === null) return [uploadFinding("SVG", upload)];
  await untilReady(visit, image.id);
  const findings: Finding[] = [];
  for (const [format, type] of Object.entries(TYPE_OF_FORMAT)) {
    findings.push(formatFinding(format, type, await visit.send(pathOf(image, format))));
  }
  return findings.every(({ status }) => status === "ok") ? [ok("formats", FORMATS.join(", "))] : findings;
}

function formatFinding(format: string, type: string, answer: Answer): Finding {
  const check = `SVG as ${format}`;
  if (answer.status === 501) {
    return warning(
      check,
      describeAnswer(answer),
      "Install a renderer that has it, such as @outrigger/imaging",
    );
  }
  if (answer.status !== 200) {
    return problem(
      check,
      `is answered with ${describeAnswer(answer)}`,
      "Run outrigger doctor where the app runs",
    );
  }
  const actual = headerOf(answer, "content-type")?.split(";", 1)[0] ?? "nothing";
  return actual === type
    ? ok(check, `${answer.body.length} bytes`)
    : problem(check, `arrives as ${actual}`, "Let Content-Type through");
}
