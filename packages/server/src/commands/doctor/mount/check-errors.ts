import { randomBytes } from "node:crypto";
import { type Finding, ok, warning } from "../finding.ts";
import { describeAnswer, objectOf, problemDetail } from "./answer.ts";
import { remedies } from "./remedies.ts";
import type { MountVisit } from "./visit.ts";

/** Whether clients are told why something is refused. */
export async function checkErrors(visit: MountVisit): Promise<Finding[]> {
  const path = `/api/images/${randomBytes(16).toString("base64url")}.json`;
  const answer = await visit.send(path);
  if (answer.status === 404 && problemDetail(answer) !== null) {
    const { instance } = objectOf(answer);
    if (typeof instance === "string") return [ok("error replies", "arrive as they are")];
  }
  return [
    warning(
      "error replies",
      `what is not there is answered with ${describeAnswer(answer)}`,
      remedies.ownErrors,
    ),
  ];
}
