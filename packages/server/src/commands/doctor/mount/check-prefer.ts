import { type Finding, ok, warning } from "../finding.ts";
import { headerOf } from "./answer.ts";
import { sampleFile, uploadFinding } from "./check-upload.ts";
import type { MountVisit } from "./visit.ts";

/** Whether a client that does not want to wait is heard, and told when to ask again. */
export async function checkPrefer(visit: MountVisit): Promise<Finding[]> {
  const upload = await visit.upload(sampleFile("PNG"), { headers: { Prefer: "respond-async" } });
  const { answer, image } = upload;
  if (image === null) return [uploadFinding("Prefer", upload)];
  if (!image.isProcessing) {
    const detail = "respond-async does not arrive: clients wait until a picture is processed";
    return [warning("Prefer", detail, "Have whatever is in front pass Prefer on")];
  }
  return [
    ok("Prefer", "respond-async arrives"),
    headerOf(answer, "retry-after") === undefined
      ? warning("Retry-After", "of replies is taken away", "Let Retry-After through")
      : ok("Retry-After", "arrives"),
  ];
}
