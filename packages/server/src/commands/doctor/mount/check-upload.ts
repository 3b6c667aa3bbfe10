import { type Finding, ok, problem, warning } from "../finding.ts";
import { samples } from "../samples.ts";
import { type Answer, describeAnswer, isRedirect, problemDetail } from "./answer.ts";
import { remedies } from "./remedies.ts";
import type { UploadedImage } from "./uploaded-image.ts";
import type { MountVisit, Upload, UploadFile } from "./visit.ts";

/** A small picture of a type. */
export function sampleFile(name: string): UploadFile {
  const sample = samples.find((each) => each.name === name);
  if (sample === undefined) throw new TypeError(`There is no sample called ${name}`);
  return { name: `doctor.${name.toLowerCase()}`, type: sample.type, bytes: sample.bytes };
}

/** What the other checks look at, and what was found on the way. */
export interface UploadCheck {
  findings: Finding[];
  /** The times around the create. */
  answer: Answer;
  image: UploadedImage | null;
}

/** Whether a file gets through. */
export async function checkUpload(visit: MountVisit): Promise<UploadCheck> {
  const file = sampleFile("PNG");
  let upload = await visit.upload(file);
  // Its clock is so far ahead that "soon" is past.
  if (upload.answer.status === 400 && problemDetail(upload.answer)?.includes("expiresAt"))
    upload = await visit.upload(file, { expires: false });
  const { answer, image } = upload;
  return { findings: [uploadFinding("upload", upload)], answer, image };
}

/** What became of an upload. */
export function uploadFinding(check: string, { answer, image }: Upload): Finding {
  const { status } = answer;
  if (image !== null) {
    return ok(
      check,
      image.isProcessing ? "taken in, to be processed" : `taken in within ${tookMs(answer)} ms`,
    );
  }
  const detail = problemDetail(answer) ?? "";
  const said = describeAnswer(answer);
  const isOurs = detail !== "";
  if (isRedirect(answer)) {
    return problem(
      check,
      `the POST is answered with ${said}`,
      "Tell clients that address, and set publicUrl to it: an upload does not survive a redirect",
    );
  }
  if (status === 401 || (status === 403 && !detail.startsWith("SSL"))) {
    return warning(
      check,
      `refused with ${said}, so that what is done with images is not checked`,
      'Give what the app asks for by --header "Name: value"',
    );
  }
  if (status === 403) return problem(check, said, remedies.trustProxy);
  if (status === 413) {
    return isOurs
      ? warning(check, said, "Raise maxUploadBytes where such files are wanted")
      : problem(check, said, remedies.bodyLimit);
  }
  if (status === 429) return warning(check, said, "Wait, or raise rateLimits.creates");
  if (status === 507) return problem(check, said, "Make room where images are kept");
  if (detail.includes("read the request body") || /no body|no file|Malformed multipart/.test(detail))
    return problem(check, said, remedies.mountFirst);
  if (detail.includes("User-Agent"))
    return problem(check, said, "Have whatever is in front pass User-Agent on");
  if (!isOurs && [404, 405, 501].includes(status)) return problem(check, said, remedies.allowMethods);
  if (status === 201 || status === 202) {
    return problem(check, "the reply names no image, or has no PIN", "Let replies through as they are");
  }
  return problem(check, said, "Look into the logs of the app and of whatever is in front");
}

function tookMs({ sentMs, arrivedMs }: Answer): number {
  return arrivedMs - sentMs;
}
