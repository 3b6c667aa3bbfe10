import { type Finding, ok, problem } from "../finding.ts";
import { problemDetail } from "./answer.ts";
import { uploadFinding } from "./check-upload.ts";
import { troubleCode } from "./connection-trouble.ts";
import { paddedPng } from "./probe-files.ts";
import { remedies } from "./remedies.ts";
import type { MountVisit, Upload } from "./visit.ts";

const CHECK = "large upload";
const MEGABYTES = 5;

/** Whether a file of some size gets through: what is in front often takes a megabyte and no more. */
export async function checkLargeUpload(visit: MountVisit): Promise<Finding[]> {
  let upload: Upload;
  try {
    upload = await visit.upload(paddedPng(MEGABYTES * 1024 * 1024));
  } catch (error) {
    if (troubleCode(error) !== "ECONNRESET") throw error;
    return [problem(CHECK, `of ${MEGABYTES} MiB: the connection was cut`, remedies.bodyLimit)];
  }
  if (upload.image !== null) return [ok(CHECK, `${MEGABYTES} MiB are taken in`)];
  const { status } = upload.answer;
  // A WAF says it in its own way: what is smaller went through a moment ago.
  if ((status === 400 || status === 403) && problemDetail(upload.answer) === null) {
    const { detail } = uploadFinding(CHECK, upload);
    return [problem(CHECK, detail, remedies.bodyLimit)];
  }
  return [uploadFinding(CHECK, upload)];
}
