import { reasonOf } from "../../../cli/error-reason.ts";
import { fontFindings } from "../check-fonts.ts";
import { type Finding, problem } from "../finding.ts";
import { describeAnswer } from "./answer.ts";
import { uploadFinding } from "./check-upload.ts";
import { drawFontSheet, readFontSheet } from "./font-sheet.ts";
import { pathOf } from "./mount-check.ts";
import { readPngPixels } from "./png-pixels.ts";
import { untilReady } from "./until-ready.ts";
import type { MountVisit } from "./visit.ts";

const CHECK = "fonts";

/** Whether the service draws the text of SVG pictures, script by script. */
export async function checkText(visit: MountVisit): Promise<Finding[]> {
  const upload = await visit.upload({ name: "fonts.svg", type: "image/svg+xml", bytes: drawFontSheet() });
  const { image } = upload;
  if (image === null) return [uploadFinding(CHECK, upload)];
  await untilReady(visit, image.id);
  const answer = await visit.send(pathOf(image, "png"));
  if (answer.status !== 200) {
    const remedy = "Run outrigger doctor where the app runs";
    return [problem(CHECK, `text is answered with ${describeAnswer(answer)}`, remedy)];
  }
  try {
    return fontFindings(readFontSheet(readPngPixels(answer.body)));
  } catch (error) {
    return [problem(CHECK, `cannot be seen: ${reasonOf(error)}`, "Let pictures through as they are")];
  }
}
