import { randomUUID } from "node:crypto";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, problemDetail } from "./answer.ts";
import { type MountCheck, pathOf } from "./mount-check.ts";
import { remedies } from "./remedies.ts";
import type { UploadedImage } from "./uploaded-image.ts";
import type { MountVisit } from "./visit.ts";

const CHECK = "after deletion";
/** Each on a connection of its own, so that they reach as many processes as a proxy has. */
const LOOKS = 4;

/** Whether what is deleted is gone at once, for everybody. */
export const checkDelete: MountCheck = async (visit, image) => {
  const path = pathOf(image, "png");
  // So that a cache in front has it.
  for (let index = 0; index < 2; index++) await visit.send(path);
  const answer = await visit.send(pathOf(image, "json"), {
    method: "DELETE",
    headers: { "X-Service-Image-Pin": image.pin },
  });
  if (answer.status !== 204) return [deleteProblem(answer)];
  visit.forget(image.id);
  return [ok("DELETE", "arrives"), await lookAfterwards(visit, image, path)];
};

function deleteProblem(answer: Answer): Finding {
  const said = `is answered with ${describeAnswer(answer)}`;
  const detail = problemDetail(answer);
  if (detail === null) return problem("DELETE", said, remedies.allowMethods);
  if (detail === "The PIN is missing")
    return problem("DELETE", said, "Have whatever is in front pass X-Service-Image-Pin on");
  return problem("DELETE", said, remedies.shareStorage);
}

async function lookAfterwards(visit: MountVisit, image: UploadedImage, path: string): Promise<Finding> {
  for (let index = 0; index < LOOKS; index++) {
    // No cache has seen these.
    for (const address of [pathOf(image, "json"), `${path}?doctor=${randomUUID()}`]) {
      const { status } = await visit.send(address);
      if (status !== 410 && status !== 404) {
        return problem(CHECK, `it is still answered with ${status}`, remedies.shareStorage);
      }
    }
  }
  const cached = await visit.send(path);
  if (cached.status !== 200) return ok(CHECK, "it is gone at once");
  const age = headerOf(cached, "age");
  const since = age === undefined ? "" : ` (Age: ${age})`;
  const seconds =
    /\bmax-age=(\d+)/.exec(headerOf(cached, "cache-control") ?? "")?.[1] ?? "as many as it likes";
  return warning(
    CHECK,
    `a cache in front serves the picture on${since}, for up to ${seconds} seconds`,
    "Set cacheSeconds to what you can bear, or 0, and have that cache obey Cache-Control",
  );
}
