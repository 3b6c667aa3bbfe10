import { randomUUID } from "node:crypto";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, objectOf, problemDetail } from "./answer.ts";
import { remedies } from "./remedies.ts";
import type { UploadedImage } from "./uploaded-image.ts";
import { type MountCheck, type MountVisit, pathOf } from "./visit.ts";

const NEW_NAME = "outrigger doctor, renamed";
/** Each on a connection of its own, so that they reach as many processes as a proxy has. */
const READS_BACK = 6;
const AFTERWARDS = "after deletion";
/** Each on a connection of its own, so that they reach as many processes as a proxy has. */
const LOOKS = 4;

/** Whether JSON changes an image, every process sees the change at once, and a stale `If-Match` is refused. */
export const checkEdits: MountCheck = async (visit, image) => {
  const before = await visit.send(pathOf(image, "json"));
  const answer = await patch(visit, image, NEW_NAME);
  const patched = patchFinding(answer);
  if (patched.status !== "ok") return [patched];
  return [
    patched,
    await tryReadBack(visit, image),
    await tryStaleEdit(visit, image, headerOf(before, "etag")),
  ];
};

function patch(
  visit: MountVisit,
  image: UploadedImage,
  name: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return visit.send(pathOf(image, "json"), {
    method: "PATCH",
    headers: { "Content-Type": "application/json", "X-Service-Image-Pin": image.pin, ...headers },
    body: Buffer.from(JSON.stringify({ name })),
  });
}

function patchFinding(answer: Answer): Finding {
  if (answer.status === 200 && objectOf(answer).name === NEW_NAME)
    return ok("PATCH", "JSON and the PIN arrive");
  const detail = problemDetail(answer);
  const said = `is answered with ${describeAnswer(answer)}`;
  if (detail === null) return problem("PATCH", said, remedies.allowMethods);
  if (detail === "The PIN is missing") {
    return problem("PATCH", said, "Have whatever is in front pass X-Service-Image-Pin on");
  }
  if (detail === "The PIN is wrong") return problem("PATCH", said, remedies.shareStorage);
  if (answer.status === 404 || answer.status === 410) return problem("PATCH", said, remedies.shareStorage);
  if (/request body|Nothing to change|body must/.test(detail))
    return problem("PATCH", said, remedies.mountFirst);
  return problem("PATCH", said, "Look into the logs of the app");
}

/** Whether every process sees a change at once. */
async function tryReadBack(visit: MountVisit, image: UploadedImage): Promise<Finding> {
  const check = "reading after writing";
  for (let index = 0; index < READS_BACK; index++) {
    const answer = await visit.send(pathOf(image, "json"));
    if (answer.status === 200 && objectOf(answer).name === NEW_NAME) continue;
    const said = answer.status === 200 ? "its old name" : describeAnswer(answer);
    return problem(check, `an image that was just changed is answered with ${said}`, remedies.shareStorage);
  }
  return ok(check, `${READS_BACK} connections see the same`);
}

async function tryStaleEdit(
  visit: MountVisit,
  image: UploadedImage,
  etag: string | undefined,
): Promise<Finding> {
  const check = "If-Match";
  if (etag === undefined) {
    return warning(check, "replies with a record have no ETag to be named", "Let ETag through");
  }
  const answer = await patch(visit, image, "outrigger doctor, lost", { "If-Match": etag });
  return answer.status === 412
    ? ok(check, "a change of what has changed meanwhile is refused")
    : warning(
        check,
        `a change of what has changed meanwhile is answered with ${describeAnswer(answer)}`,
        "Have whatever is in front pass If-Match on",
      );
}

/** Whether a deleted image is gone at once, in every process. */
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
        return problem(AFTERWARDS, `it is still answered with ${status}`, remedies.shareStorage);
      }
    }
  }
  const cached = await visit.send(path);
  if (cached.status !== 200) return ok(AFTERWARDS, "it is gone at once");
  const age = headerOf(cached, "age");
  const since = age === undefined ? "" : ` (Age: ${age})`;
  const seconds =
    /\bmax-age=(\d+)/.exec(headerOf(cached, "cache-control") ?? "")?.[1] ?? "as many as it likes";
  return warning(
    AFTERWARDS,
    `a cache in front serves the picture on${since}, for up to ${seconds} seconds`,
    "Set cacheSeconds to what you can bear, or 0, and have that cache obey Cache-Control",
  );
}
