import { sizeText } from "../../../cli/amounts.ts";
import { printable } from "../../../cli/printable.ts";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, describeAnswer, headerOf, isRedirect, problemDetail } from "./answer.ts";
import { checkLargeRead } from "./check-reads.ts";
import { explainTrouble, troubleCode } from "./connection-trouble.ts";
import { noisePng, sampleFile } from "./probe-files.ts";
import { remedies, setPublicUrl } from "./remedies.ts";
import type { UploadedImage } from "./uploaded-image.ts";
import { type MountCheck, type MountVisit, type Upload, untilReady } from "./visit.ts";

const ADDRESSES = "addresses";
const LARGE = "large upload";
const LARGE_BYTES = 5_000_000;
const SLOW = "slow upload";
const RAISE_TIME_OUTS =
  "Raise the timeouts of the proxy in front (nginx: client_body_timeout, proxy_read_timeout, proxy_send_timeout; " +
  "Node: server.requestTimeout)";

/** The image that the other checks use, and the findings of its upload. */
export interface UploadCheck {
  findings: Finding[];
  /** The reply to the create, with its times. */
  answer: Answer;
  image: UploadedImage | null;
}

/** Whether a file can be uploaded. */
export async function checkUpload(visit: MountVisit): Promise<UploadCheck> {
  const file = sampleFile("PNG");
  let upload = await visit.upload(file);
  // The clock of the mount is so far ahead that the requested expiry is in the past.
  if (upload.answer.status === 400 && problemDetail(upload.answer)?.includes("expiresAt"))
    upload = await visit.upload(file, { expires: false });
  const { answer, image } = upload;
  return { findings: [uploadFinding("upload", upload)], answer, image };
}

/** The finding for an upload. */
export function uploadFinding(check: string, { answer, image }: Upload): Finding {
  const { status } = answer;
  if (image !== null) {
    return ok(check, image.isProcessing ? "accepted for processing" : `accepted within ${tookMs(answer)} ms`);
  }
  const detail = problemDetail(answer) ?? "";
  const said = describeAnswer(answer);
  const isOurs = detail !== "";
  if (isRedirect(answer)) {
    return problem(
      check,
      `the reply to POST is ${said}`,
      "Give clients that address, and set publicUrl to it: an upload does not survive a redirect",
    );
  }
  if (status === 401 || (status === 403 && !detail.startsWith("SSL"))) {
    return warning(
      check,
      `rejected with ${said}; checks with images are skipped`,
      'Send the credentials of the app with --header "Name: value"',
    );
  }
  if (status === 403) return problem(check, said, remedies.trustProxy);
  if (status === 413) {
    return isOurs
      ? warning(check, said, "Raise maxUploadBytes if such files are wanted")
      : problem(check, said, remedies.bodyLimit);
  }
  if (status === 429) return warning(check, said, "Wait, or raise rateLimits.creates");
  if (status === 507) return problem(check, said, "Free some space in the storage of the images");
  if (detail.includes("read the request body") || /no body|no file|Malformed multipart/.test(detail))
    return problem(check, said, remedies.mountFirst);
  if (detail.includes("User-Agent")) return problem(check, said, "Let the proxy in front forward User-Agent");
  if (!isOurs && [404, 405, 501].includes(status)) return problem(check, said, remedies.allowMethods);
  if (status === 201 || status === 202) {
    return problem(check, "the reply has no image ID or no PIN", "Forward replies unchanged");
  }
  return problem(check, said, "Check the logs of the app and of the proxy in front");
}

function tookMs({ sentMs, arrivedMs }: Answer): number {
  return arrivedMs - sentMs;
}

/** Whether the addresses in replies are below the address requested. */
export const checkAddresses: MountCheck = async (visit, image) => {
  const given = [image.url, image.location, image.urlHeader, image.editUrl, ...image.links];
  const wrong = given.find((address) => address !== undefined && !address.startsWith(`${visit.base}/`));
  if (wrong !== undefined) return [wrongAddress(visit, wrong)];
  if (image.location === undefined) {
    const remedy = "Forward the headers Location, Link and X-Service-* of replies";
    return [problem(ADDRESSES, "the reply to a create has no Location", remedy)];
  }
  const answer = await visit.send(image.location.slice(visit.base.length));
  return answer.status === 200 || answer.status === 202
    ? [ok(ADDRESSES, `below ${visit.base}, as requested, and Location responds`)]
    : [problem(ADDRESSES, `the reply to Location is ${describeAnswer(answer)}`, remedies.allowMethods)];
};

function wrongAddress({ base }: MountVisit, address: string): Finding {
  const detail = printable(`replies name ${withoutPin(address)}, but the request went to ${base}`);
  const asked = new URL(base);
  const given = URL.canParse(address) ? new URL(address) : null;
  const isOnlyProtocol = given?.host === asked.host && given.protocol !== asked.protocol;
  const byHost = `${setPublicUrl(base)}, or let the proxy forward Host (nginx: proxy_set_header Host $http_host)`;
  return problem(
    ADDRESSES,
    detail,
    isOnlyProtocol ? `${setPublicUrl(base)}. ${remedies.trustProxy}` : byHost,
  );
}

function withoutPin(address: string): string {
  return address.replace(/\?.*$/s, "");
}

/** Whether the service receives the client's User-Agent. */
export function checkAgent(name: string, { agentName }: UploadedImage): Finding {
  if (agentName === name) return ok("User-Agent", "arrives");
  return {
    check: "User-Agent",
    status: "warning",
    detail: printable(`arrives as ${agentName ?? "an unreadable value"}`),
    remedy: "Let the proxy in front forward it: every image shows it",
  };
}

/** Whether `Prefer: respond-async` reaches the service and `Retry-After` reaches the client. */
export async function checkPrefer(visit: MountVisit): Promise<Finding[]> {
  const upload = await visit.upload(sampleFile("PNG"), { headers: { Prefer: "respond-async" } });
  const { answer, image } = upload;
  if (image === null) return [uploadFinding("Prefer", upload)];
  if (!image.isProcessing) {
    const detail = "respond-async does not arrive: clients wait for the processing of each picture";
    return [warning("Prefer", detail, "Let the proxy in front forward Prefer")];
  }
  return [
    ok("Prefer", "respond-async arrives"),
    headerOf(answer, "retry-after") === undefined
      ? warning("Retry-After", "is removed from replies", "Forward Retry-After")
      : ok("Retry-After", "arrives"),
  ];
}

/** Whether a file of several megabytes can be uploaded, as many proxies accept at most 1 MB, and read. */
export async function checkLargeUpload(visit: MountVisit): Promise<Finding[]> {
  let upload: Upload;
  try {
    upload = await visit.upload(noisePng(LARGE_BYTES));
  } catch (error) {
    if (troubleCode(error) !== "ECONNRESET") throw error;
    return [problem(LARGE, `the connection was cut during ${sizeText(LARGE_BYTES)}`, remedies.bodyLimit)];
  }
  if (upload.image !== null) {
    await untilReady(visit, upload.image.id);
    return [
      ok(LARGE, `${sizeText(LARGE_BYTES)} are accepted`),
      ...(await checkLargeRead(visit, upload.image)),
    ];
  }
  const { status } = upload.answer;
  // A firewall rejected it: the reply is not the service's, and a smaller file arrived before.
  if ((status === 400 || status === 403) && problemDetail(upload.answer) === null) {
    const { detail } = uploadFinding(LARGE, upload);
    return [problem(LARGE, detail, remedies.bodyLimit)];
  }
  return [uploadFinding(LARGE, upload)];
}

/** Whether an upload survives a pause of the client, as with phones. */
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
  const said = `after ${pause} the reply is ${describeAnswer(answer)}`;
  if (problemDetail(answer) === null) return [problem(SLOW, said, RAISE_TIME_OUTS)];
  if (answer.status === 408)
    return [warning(SLOW, said, "Raise uploadIdleMs if clients pause for that long")];
  return [uploadFinding(SLOW, upload)];
}
