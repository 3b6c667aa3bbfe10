import { reasonOf } from "../../../cli/error-reason.ts";
import { FORMATS, TYPE_OF_FORMAT } from "../../../cli/image-formats.ts";
import { fontFindings } from "../check-fonts.ts";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf } from "./answer.ts";
import { needsSignature } from "./check-reads.ts";
import { uploadFinding } from "./check-uploads.ts";
import { drawFontSheet, readFontSheet } from "./font-sheet.ts";
import { readPngPixels } from "./png-pixels.ts";
import { sampleFile, twoPagePdf } from "./probe-files.ts";
import { type MountVisit, pathOf, untilReady } from "./visit.ts";

const FONTS = "fonts";
const PDF = "PDF";

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
      "Install a renderer that supports it, such as @outrigger/imaging",
    );
  }
  if (answer.status !== 200) {
    return problem(
      check,
      `answers ${describeAnswer(answer)}`,
      "Run outrigger doctor on the machine of the app",
    );
  }
  const actual = headerOf(answer, "content-type")?.split(";", 1)[0] ?? "nothing";
  return actual === type
    ? ok(check, `${answer.body.length} bytes`)
    : problem(check, `arrives as ${actual}`, "Forward Content-Type");
}

/** Whether the service renders the text of SVG pictures, for each script. */
export async function checkText(visit: MountVisit): Promise<Finding[]> {
  const upload = await visit.upload({ name: "fonts.svg", type: "image/svg+xml", bytes: drawFontSheet() });
  const { image } = upload;
  if (image === null) return [uploadFinding(FONTS, upload)];
  await untilReady(visit, image.id);
  const answer = await visit.send(pathOf(image, "png"));
  if (answer.status !== 200) {
    const remedy = "Run outrigger doctor on the machine of the app";
    return [problem(FONTS, `the reply for text is ${describeAnswer(answer)}`, remedy)];
  }
  try {
    return fontFindings(readFontSheet(readPngPixels(answer.body)));
  } catch (error) {
    return [problem(FONTS, `could not be read: ${reasonOf(error)}`, "Forward pictures unchanged")];
  }
}

/** Whether pages of documents are rendered, and the query of an address arrives. */
export async function checkDocument(visit: MountVisit): Promise<Finding[]> {
  const upload = await visit.upload({ name: "doctor.pdf", type: "application/pdf", bytes: twoPagePdf() });
  const { image } = upload;
  if (image === null) return [uploadFinding(PDF, upload)];
  await untilReady(visit, image.id);
  const first = await visit.send(`${pathOf(image, "png")}?page=1`);
  if (needsSignature(first)) return [ok(PDF, "its pages need signed addresses")];
  const second = await visit.send(`${pathOf(image, "png")}?page=2`);
  const failed = [first, second].find(({ status }) => status !== 200);
  if (failed !== undefined) {
    const remedy = "Run outrigger doctor on the machine of the app";
    return [problem(PDF, `the reply for a page is ${describeAnswer(failed)}`, remedy)];
  }
  return first.body.equals(second.body)
    ? [
        problem(
          PDF,
          "page=2 shows the first page",
          "Let the proxy in front forward the query and include it in cache keys",
        ),
      ]
    : [ok(PDF, "each page is rendered")];
}
