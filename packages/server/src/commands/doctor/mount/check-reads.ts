import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf } from "./answer.ts";
import { type MountCheck, pathOf } from "./mount-check.ts";
import { remedies } from "./remedies.ts";
import type { UploadedImage } from "./uploaded-image.ts";
import type { MountVisit } from "./visit.ts";

const RANGE_BYTES = 10;

/** Whether pictures arrive whole, in parts, and only when they have changed. */
export const checkReads: MountCheck = async (visit, image) => {
  const path = pathOf(image, "png");
  const whole = await visit.send(path);
  if (whole.status !== 200) {
    return [problem("reading", `the picture is answered with ${describeAnswer(whole)}`, remedies.ownErrors)];
  }
  return [
    bytesFinding(whole, image),
    await tryHead(visit, path, whole),
    await tryRange(visit, path, whole),
    await tryValidators(visit, path, whole),
    await tryCompression(visit, image),
  ];
};

function bytesFinding({ body }: Answer, { size }: UploadedImage): Finding {
  if (size === null || body.length === size) return ok("reading", "the picture arrives as it is kept");
  return problem(
    "reading",
    `of ${size} bytes ${body.length} arrive`,
    "Let pictures through as they are: no-transform forbids to make them smaller on the way",
  );
}

async function tryHead(visit: MountVisit, path: string, whole: Answer): Promise<Finding> {
  const answer = await visit.send(path, { method: "HEAD" });
  if (answer.status !== 200)
    return problem("HEAD", `is answered with ${answer.status}`, remedies.allowMethods);
  const length = headerOf(answer, "content-length");
  return length === String(whole.body.length)
    ? ok("HEAD", "as GET, without the picture")
    : warning(
        "HEAD",
        `names a length of ${length ?? "nothing"}`,
        "Let Content-Length of replies to HEAD through",
      );
}

async function tryRange(visit: MountVisit, path: string, whole: Answer): Promise<Finding> {
  const answer = await visit.send(path, { headers: { Range: `bytes=0-${RANGE_BYTES - 1}` } });
  const { status, body } = answer;
  if (status === 206 && body.equals(whole.body.subarray(0, RANGE_BYTES)))
    return ok("Range", "parts can be read");
  const what = status === 206 ? "206 with other bytes" : describeAnswer(answer);
  return warning("Range", `is answered with ${what}`, "Let Range, Content-Range and Accept-Ranges through");
}

async function tryValidators(visit: MountVisit, path: string, whole: Answer): Promise<Finding> {
  const etag = headerOf(whole, "etag");
  if (etag === undefined) {
    return warning("ETag", "is taken away, so that everything is sent anew every time", "Let ETag through");
  }
  if (etag.startsWith("W/")) return warning("ETag", "is made weak on the way", remedies.noCompression);
  const answer = await visit.send(path, { headers: { "If-None-Match": etag } });
  return answer.status === 304
    ? ok("ETag", "what has not changed is not sent again")
    : warning(
        "ETag",
        `If-None-Match is answered with ${describeAnswer(answer)}`,
        "Let If-None-Match through",
      );
}

/** What is text, proxies like to compress, and then its entity tag is not that of the service any more. */
async function tryCompression(visit: MountVisit, image: UploadedImage): Promise<Finding> {
  const plain = await visit.send(pathOf(image, "json"));
  const compressed = await visit.send(pathOf(image, "json"), { headers: { "Accept-Encoding": "gzip, br" } });
  const encoding = headerOf(compressed, "content-encoding") ?? "identity";
  const etag = headerOf(compressed, "etag");
  if (etag === headerOf(plain, "etag")) return ok("compression", encoding === "identity" ? "none" : encoding);
  const detail = `${encoding} changes the ETag to ${etag ?? "none"}, by which nothing can be changed safely`;
  return warning("compression", detail, remedies.noCompression);
}
