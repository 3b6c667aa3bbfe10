import { randomUUID } from "node:crypto";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, objectOf, problemDetail } from "./answer.ts";
import { remedies } from "./remedies.ts";
import type { UploadedImage } from "./uploaded-image.ts";
import { type MountCheck, type MountVisit, pathOf } from "./visit.ts";

const NEW_NAME = "outrigger doctor, renamed";
/** Reads after a change, each on a new connection so that a proxy spreads them over its processes. */
const READS_BACK = 6;
const AFTERWARDS = "after deletion";
/** Reads after a deletion, each on a new connection so that a proxy spreads them over its processes. */
const LOOKS = 4;

/** Whether JSON changes an image, every process sees the change at once, and a stale `If-Match` is rejected. */
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
  const said = `answers ${describeAnswer(answer)}`;
  if (detail === null) return problem("PATCH", said, remedies.allowMethods);
  if (detail === "The PIN is missing") {
    return problem("PATCH", said, "Let the proxy in front forward X-Service-Image-Pin");
  }
  if (detail === "The PIN is wrong") return problem("PATCH", said, remedies.shareStorage);
  if (answer.status === 404 || answer.status === 410) return problem("PATCH", said, remedies.shareStorage);
  if (/request body|Nothing to change|body must/.test(detail))
    return problem("PATCH", said, remedies.mountFirst);
  return problem("PATCH", said, "Check the logs of the app");
}

/** Whether every process sees a change at once. */
async function tryReadBack(visit: MountVisit, image: UploadedImage): Promise<Finding> {
  const check = "reading after writing";
  for (let index = 0; index < READS_BACK; index++) {
    const answer = await visit.send(pathOf(image, "json"));
    if (answer.status === 200 && objectOf(answer).name === NEW_NAME) continue;
    const said = answer.status === 200 ? "its old name" : describeAnswer(answer);
    return problem(check, `the reply for a changed image is ${said}`, remedies.shareStorage);
  }
  return ok(check, `${READS_BACK} connections see the change`);
}

async function tryStaleEdit(
  visit: MountVisit,
  image: UploadedImage,
  etag: string | undefined,
): Promise<Finding> {
  const check = "If-Match";
  if (etag === undefined) {
    return warning(check, "replies with a record have no ETag", "Forward ETag");
  }
  const answer = await patch(visit, image, "outrigger doctor, lost", { "If-Match": etag });
  return answer.status === 412
    ? ok(check, "an edit of a changed record is rejected")
    : warning(
        check,
        `the reply to an edit of a changed record is ${describeAnswer(answer)}`,
        "Let the proxy in front forward If-Match",
      );
}

/** Whether a deleted image is gone at once, in every process. */
export const checkDelete: MountCheck = async (visit, image) => {
  const path = pathOf(image, "png");
  // Fills a cache in front.
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
  const said = `answers ${describeAnswer(answer)}`;
  const detail = problemDetail(answer);
  if (detail === null) return problem("DELETE", said, remedies.allowMethods);
  if (detail === "The PIN is missing")
    return problem("DELETE", said, "Let the proxy in front forward X-Service-Image-Pin");
  return problem("DELETE", said, remedies.shareStorage);
}

async function lookAfterwards(visit: MountVisit, image: UploadedImage, path: string): Promise<Finding> {
  for (let index = 0; index < LOOKS; index++) {
    // No cache has these addresses.
    for (const address of [pathOf(image, "json"), `${path}?doctor=${randomUUID()}`]) {
      const { status } = await visit.send(address);
      if (status !== 410 && status !== 404) {
        return problem(AFTERWARDS, `the image still answers ${status}`, remedies.shareStorage);
      }
    }
  }
  const cached = await visit.send(path);
  if (cached.status !== 200) return ok(AFTERWARDS, "the image is gone at once");
  const age = headerOf(cached, "age");
  const since = age === undefined ? "" : ` (Age: ${age})`;
  const seconds = /\bmax-age=(\d+)/.exec(headerOf(cached, "cache-control") ?? "")?.[1] ?? "any number of";
  return warning(
    AFTERWARDS,
    `a cache in front still serves the picture${since}, for up to ${seconds} seconds`,
    "Lower cacheSeconds, and let the cache obey Cache-Control",
  );
}
