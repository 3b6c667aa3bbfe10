import { type Finding, ok, warning } from "../finding.ts";
import { type Answer, headerOf, problemDetail } from "./answer.ts";
import { type MountCheck, pathOf } from "./mount-check.ts";

const CHECK = "sizes";
/** Smaller than the picture that is looked at, and no step of the service's own ladder. */
const SIDE = 3;
/** Where the header of a PNG has its width (PNG 3, clause 11.2.1). */
const WIDTH_AT = 16;
/** What caches add to replies, hit or miss. */
const OF_CACHES = ["age", "cache-status", "x-cache", "x-cache-status", "cf-cache-status", "x-varnish"];

/** Whether every client can have any size rendered, with no cache in front. */
export const checkSizes: MountCheck = async (visit, image) => {
  const path = `${pathOf(image, "png")}?resize=${SIDE}x${SIDE}`;
  const first = await visit.send(path);
  if (needsSignature(first)) return [ok(CHECK, "presets and signed addresses alone")];
  // Other checks say what is wrong with pictures that do not arrive.
  if (first.status !== 200 || first.body.length < WIDTH_AT + 4) return [];
  if (first.body.readUInt32BE(WIDTH_AT) !== SIDE) return [ok(CHECK, "the next larger step")];
  return [cacheFinding(await visit.send(path))];
};

/** Whether a picture was refused because its address is not signed. */
export function needsSignature(answer: Answer): boolean {
  return answer.status === 403 && problemDetail(answer)?.startsWith("resize, convert and page need") === true;
}

function cacheFinding(repeated: Answer): Finding {
  const shown = OF_CACHES.find((name) => headerOf(repeated, name) !== undefined);
  if (shown !== undefined) return ok(CHECK, `any, behind a cache (${shown})`);
  return warning(
    CHECK,
    "any is rendered for every client, and no header of a reply shows a cache in front",
    'Set sizes: "steps" or "signed", or put a cache in front',
  );
}
