import { type Finding, ok, problem, warning } from "../finding.ts";
import { describeAnswer, problemDetail } from "./answer.ts";
import { sampleFile, uploadFinding } from "./check-upload.ts";
import { explainTrouble } from "./connection-trouble.ts";
import type { MountVisit, Upload } from "./visit.ts";

const CHECK = "slow upload";
const RAISE =
  "Raise the time-outs of whatever is in front (nginx: client_body_timeout, proxy_read_timeout, proxy_send_timeout; " +
  "Node: server.requestTimeout)";

/** Whether an upload survives that its sender pauses, as phones do. */
export async function checkPatience(visit: MountVisit): Promise<Finding[]> {
  const pause = `a pause of ${visit.patienceMs / 1000} s`;
  let upload: Upload;
  try {
    upload = await visit.upload(sampleFile("PNG"), { pauses: true });
  } catch (error) {
    return [problem(CHECK, `does not survive ${pause}: ${explainTrouble(error).detail}`, RAISE)];
  }
  const { answer, image } = upload;
  if (image !== null) return [ok(CHECK, `survives ${pause}`)];
  const said = `after ${pause} it is answered with ${describeAnswer(answer)}`;
  if (problemDetail(answer) === null) return [problem(CHECK, said, RAISE)];
  if (answer.status === 408) return [warning(CHECK, said, "Raise uploadIdleMs where clients pause so long")];
  return [uploadFinding(CHECK, upload)];
}
