import { randomBytes } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import { sizeText } from "../../../cli/amounts.ts";
import { fontFindings } from "../check-renderer.ts";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { problemDetail, rate, remedies, troubleCode, unanswered, unexpected } from "./advice.ts";
import { headerOf, type MountVisit, pathOf, type UploadedImage } from "./visit.ts";

/** Findings about files that the check uploads. Rejects with Node's error if there is no reply. */
type UploadCheck = (visit: MountVisit) => Promise<Finding[]>;

const LARGE_BYTES = 5_000_000;
/** Headers of GET that a proxy loses if it sends the file itself (`sendfile`) and is not told to keep them. */
const OF_FILES = [
  ...["Content-Type", "Content-Disposition", "Cache-Control", "ETag", "Last-Modified", "Sunset"],
  ...["Content-Security-Policy", "X-Content-Type-Options", "Cross-Origin-Resource-Policy"],
];

/** The checks with files of their own, by name, in their order. */
export const UPLOAD_CHECKS: Readonly<Record<string, UploadCheck>> = {
  /** Whether text in SVG pictures is rendered: a letter must not look like a character that no font has. */
  async fonts(visit) {
    const silhouettes: Buffer[] = [];
    for (const text of ["R", "\u{fdd0}"]) {
      const svg =
        '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="64">' +
        // Wide strokes hide the digits in the box of a missing character.
        `<text x="16" y="44" font-size="32" stroke="#000" stroke-width="24">${text}</text></svg>`;
      const { answer, image } = await visit.upload(new Blob([svg], { type: "image/svg+xml" }));
      if (image === undefined) return [unexpected("fonts", answer)];
      const drawn = await visit.send(pathOf(image, "png"));
      if (drawn.status !== 200) return [unexpected("fonts", drawn, "the reply for text is ")];
      silhouettes.push(drawn.body);
    }
    if (silhouettes[0]?.equals(silhouettes[1] ?? Buffer.alloc(0)) === false)
      return [ok("fonts", "Latin text is rendered")];
    return fontFindings({ drawnScripts: [], missingScripts: [], alikeFamilies: [] });
  },

  /** Whether `Prefer: respond-async` reaches the service and `Retry-After` reaches the client. */
  async Prefer(visit) {
    const { answer, image } = await visit.upload(noisePng(4), { headers: { Prefer: "respond-async" } });
    if (image === undefined) return [unexpected("Prefer", answer)];
    const detail = "respond-async does not arrive: clients wait for the processing of each picture";
    if (answer.status !== 202) return [warning("Prefer", detail, "Let the proxy in front forward Prefer")];
    const isLost = headerOf(answer, "Retry-After") === "";
    return [ok("Prefer", "respond-async arrives"), rate("Retry-After", isLost && "is removed from replies")];
  },

  /** Whether a file of several megabytes can be uploaded, as many proxies accept at most 1 MB, and read. */
  async "large upload"(visit) {
    const check = "large upload";
    const size = sizeText(LARGE_BYTES);
    try {
      const { answer, image } = await visit.upload(noisePng(Math.floor(Math.sqrt(LARGE_BYTES / 3))));
      if (image !== undefined) return [ok(check, `${size} are accepted`), await checkLargeRead(visit, image)];
      const found = unexpected(check, answer, "");
      // A firewall rejected it: the reply is not the service's, and a smaller file arrived before.
      const isByFirewall = [400, 403].includes(answer.status) && problemDetail(answer) === "";
      return [isByFirewall ? problem(check, found.detail, remedies.bodyLimit) : found];
    } catch (error) {
      if (troubleCode(error) !== "ECONNRESET") throw error;
      return [problem(check, `the connection was cut during ${size}`, remedies.bodyLimit)];
    }
  },

  /** Whether an upload survives a pause of the client, as with phones. */
  async "slow upload"(visit) {
    const check = "slow upload";
    const pause = `a pause of ${visit.patienceMs / 1000} s`;
    try {
      const { answer, image } = await visit.upload(noisePng(4), { pauseMs: visit.patienceMs });
      if (image !== undefined) return [ok(check, `survives ${pause}`)];
      const found = unexpected(check, answer, `after ${pause} the reply is `);
      return [problemDetail(answer) === "" ? problem(check, found.detail, remedies.timeOuts) : found];
    } catch (error) {
      return [{ ...unanswered(check, error, `does not survive ${pause}: `), remedy: remedies.timeOuts }];
    }
  },
};

/** Whether a large picture arrives with the headers of its HEAD, which the service always sends itself. */
async function checkLargeRead(visit: MountVisit, image: UploadedImage): Promise<Finding> {
  const check = "large picture";
  const head = await visit.send(pathOf(image, "png"), { method: "HEAD" });
  const whole = await visit.send(pathOf(image, "png"));
  if (whole.status !== 200) {
    const { status, detail } = unexpected(check, whole);
    return { ...rate(check, detail), status };
  }
  if (whole.body.length === 0) return rate(check, "the reply for a large picture is empty");
  const changed = OF_FILES.filter((name) => headerOf(whole, name) !== headerOf(head, name)).join(" and ");
  return rate(check, changed !== "" && `${changed} are changed or missing, unlike with HEAD`);
}

/** A PNG of noise with sides of so many pixels, which neither compression nor cleaning reduces. */
export function noisePng(side: number): Blob {
  const rows = randomBytes(side * (1 + 3 * side));
  // Each row begins with its filter: none.
  for (let row = 0; row < side; row++) rows[row * (1 + 3 * side)] = 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2], 8); // 8 bits of red, green and blue.
  const chunks = { IHDR: header, IDAT: deflateSync(rows, { level: 0 }), IEND: Buffer.alloc(0) };
  const parts = Object.entries(chunks).flatMap(([type, content]) => {
    const typed = Buffer.concat([Buffer.from(type, "latin1"), content]);
    return [bigEndian(content.length), typed, bigEndian(crc32(typed))];
  });
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return new Blob([Buffer.concat([signature, ...parts])], { type: "image/png" });
}

function bigEndian(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}
