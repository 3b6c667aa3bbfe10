import { printable } from "../../../cli/printable.ts";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, isRedirect, problemDetail } from "./answer.ts";
import { explainTrouble, troubleCode } from "./connection-trouble.ts";
import { paddedPng, sampleFile } from "./probe-files.ts";
import { remedies, setPublicUrl } from "./remedies.ts";
import type { UploadedImage } from "./uploaded-image.ts";
import type { MountCheck, MountVisit, Upload } from "./visit.ts";

const ADDRESSES = "addresses";
const LARGE = "large upload";
const MEGABYTES = 5;
const SLOW = "slow upload";
const RAISE_TIME_OUTS =
  "Raise the time-outs of whatever is in front (nginx: client_body_timeout, proxy_read_timeout, proxy_send_timeout; " +
  "Node: server.requestTimeout)";

/** The image that the other checks use, and the findings of its upload. */
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

/** The result of an upload. */
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

/** Whether the addresses in replies lead back to where the service was asked. */
export const checkAddresses: MountCheck = async (visit, image) => {
  const given = [image.url, image.location, image.urlHeader, image.editUrl, ...image.links];
  const wrong = given.find((address) => address !== undefined && !address.startsWith(`${visit.base}/`));
  if (wrong !== undefined) return [wrongAddress(visit, wrong)];
  if (image.location === undefined) {
    const remedy = "Let the header Location, Link and X-Service-* of replies through";
    return [problem(ADDRESSES, "the reply to a create has no Location", remedy)];
  }
  const answer = await visit.send(image.location.slice(visit.base.length));
  return answer.status === 200 || answer.status === 202
    ? [ok(ADDRESSES, `below ${visit.base}, as asked, and Location answers`)]
    : [problem(ADDRESSES, `Location is answered with ${describeAnswer(answer)}`, remedies.allowMethods)];
};

function wrongAddress({ base }: MountVisit, address: string): Finding {
  const detail = printable(`replies name ${withoutPin(address)}, asked was ${base}`);
  const asked = new URL(base);
  const given = URL.canParse(address) ? new URL(address) : null;
  const isOnlyProtocol = given?.host === asked.host && given.protocol !== asked.protocol;
  const byHost = `${setPublicUrl(base)}, or have the proxy pass Host on (nginx: proxy_set_header Host $host)`;
  return problem(
    ADDRESSES,
    detail,
    isOnlyProtocol ? `${setPublicUrl(base)}. ${remedies.trustProxy}` : byHost,
  );
}

function withoutPin(address: string): string {
  return address.replace(/\?.*$/s, "");
}

/** Whether the service learns the client's program. */
export function checkAgent(name: string, { agentName }: UploadedImage): Finding {
  if (agentName === name) return ok("User-Agent", "arrives");
  return {
    check: "User-Agent",
    status: "warning",
    detail: printable(`arrives as ${agentName ?? "something unreadable"}`),
    remedy: "Have whatever is in front pass it on: it is shown with every image",
  };
}

/** Whether `Prefer: respond-async` arrives, and `Retry-After` comes back. */
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

/** Whether a file of some megabytes arrives: proxies often accept no more than one. */
export async function checkLargeUpload(visit: MountVisit): Promise<Finding[]> {
  let upload: Upload;
  try {
    upload = await visit.upload(paddedPng(MEGABYTES * 1024 * 1024));
  } catch (error) {
    if (troubleCode(error) !== "ECONNRESET") throw error;
    return [problem(LARGE, `of ${MEGABYTES} MiB: the connection was cut`, remedies.bodyLimit)];
  }
  if (upload.image !== null) return [ok(LARGE, `${MEGABYTES} MiB are taken in`)];
  const { status } = upload.answer;
  // A firewall answers in its own words; a smaller file arrived a moment ago.
  if ((status === 400 || status === 403) && problemDetail(upload.answer) === null) {
    const { detail } = uploadFinding(LARGE, upload);
    return [problem(LARGE, detail, remedies.bodyLimit)];
  }
  return [uploadFinding(LARGE, upload)];
}

/** Whether an upload survives that its sender pauses, as phones do. */
export async function checkPatience(visit: MountVisit): Promise<Finding[]> {
  const pause = `a pause of ${visit.patienceMs / 1000} s`;
  let upload: Upload;
  try {
    upload = await visit.upload(sampleFile("PNG"), { pauses: true });
  } catch (error) {
    return [problem(SLOW, `does not survive ${pause}: ${explainTrouble(error).detail}`, RAISE_TIME_OUTS)];
  }
  const { answer, image } = upload;
  if (image !== null) return [ok(SLOW, `survives ${pause}`)];
  const said = `after ${pause} it is answered with ${describeAnswer(answer)}`;
  if (problemDetail(answer) === null) return [problem(SLOW, said, RAISE_TIME_OUTS)];
  if (answer.status === 408) return [warning(SLOW, said, "Raise uploadIdleMs where clients pause so long")];
  return [uploadFinding(SLOW, upload)];
}
