import { type ClockReading, checkClock, clockAheadBy } from "../check-clock.ts";
import { type Finding, ok, problem, warning } from "../finding.ts";
import { type Answer, headerOf } from "./answer.ts";
import { checkDelete, checkEdits } from "./check-edits.ts";
import { checkImagePages, checkUploadPage } from "./check-pages.ts";
import { checkErrors, checkLookupMount, checkReach } from "./check-reach.ts";
import { checkReads, checkSafetyHeaders, checkSizes } from "./check-reads.ts";
import { checkDocument, checkFormats, checkText } from "./check-renditions.ts";
import {
  checkEarlyAnswer,
  checkKeepAlive,
  checkPlainTwin,
  checkTls,
  plainTwinOf,
} from "./check-transport.ts";
import {
  checkAddresses,
  checkAgent,
  checkLargeUpload,
  checkPatience,
  checkPrefer,
  checkUpload,
} from "./check-uploads.ts";
import { explainTrouble } from "./connection-trouble.ts";
import type { UploadedImage } from "./uploaded-image.ts";
import {
  createVisit,
  DOCTOR_NAME,
  type MountCheck,
  type MountVisit,
  untilReady,
  type VisitOptions,
} from "./visit.ts";

type Check = [name: string, run: () => Promise<Finding[]>];

/** Looks at a running service from outside, as a client does, and leaves nothing behind. */
export async function* examineMount(options: VisitOptions): AsyncGenerator<Finding> {
  const visit = createVisit(options);
  const { findings, isThere, hello } = await checkReach(visit);
  if (hello === null) {
    const lookup = isThere ? await attempt(["lookup", () => checkLookupMount(visit)]) : [];
    // That there are no images is then as it should be.
    if (lookup.some(({ status }) => status === "ok")) {
      yield ok("mount", `${visit.base} has the email lookup, and no images`);
      yield* lookup;
    } else yield* findings;
    return;
  }
  yield* findings;
  visit.clockAheadMs = clockAheadBy(dateReading(hello));
  yield checkTls(visit.base, hello);
  const twin = plainTwinOf(visit.base);
  if (twin !== null) yield await checkPlainTwin(twin);
  yield* await attempt(["error replies", () => checkErrors(visit)]);
  yield* await attempt(["upload page", () => checkUploadPage(visit)]);
  yield* await attempt(["lookup", () => checkLookupMount(visit)]);
  yield* examineUploads(visit, hello);
}

async function* examineUploads(visit: MountVisit, hello: Answer): AsyncGenerator<Finding> {
  const readings = [dateReading(hello)];
  const waiting: Promise<Finding[]>[] = [];
  try {
    const { findings, answer, image } = await checkUpload(visit);
    yield* findings;
    if (image === null) return;
    const created = { beforeMs: answer.sentMs, shownMs: image.createdAt, afterMs: answer.arrivedMs };
    readings.push(created);
    // By the app's own clock, where a proxy in front has another.
    visit.clockAheadMs = clockAheadBy(created);
    // These wait, for pauses and renders, more than they work: beside the others.
    waiting.push(...checksBeside(visit).map(attempt));
    await untilReady(visit, image.id);
    for (const check of checksOf(visit, image)) yield* await attempt(check);
    for (const found of waiting) yield* await found;
  } catch (error) {
    yield troubleFinding("upload", error);
  } finally {
    yield checkClock("clock", readings);
    // What they upload is to be left, too.
    await Promise.all(waiting);
    const left = await visit.leave();
    if (left.length > 0) {
      yield warning("leaving", `${left.join(" and ")} could not be deleted`, "They expire within the day");
    }
  }
}

function checksOf(visit: MountVisit, image: UploadedImage): Check[] {
  const withImage = (name: string, check: MountCheck): Check => [name, () => check(visit, image)];
  return [
    withImage("addresses", checkAddresses),
    ["User-Agent", async () => [checkAgent(DOCTOR_NAME, image)]],
    withImage("reading", checkReads),
    withImage("safety headers", checkSafetyHeaders),
    withImage("sizes", checkSizes),
    withImage("PATCH", checkEdits),
    withImage("pages", checkImagePages),
    withImage("DELETE", checkDelete),
  ];
}

/** Checks with files of their own. */
function checksBeside(visit: MountVisit): Check[] {
  return [
    ["formats", () => checkFormats(visit)],
    ["fonts", () => checkText(visit)],
    ["PDF", () => checkDocument(visit)],
    ["Prefer", () => checkPrefer(visit)],
    ["large upload", () => checkLargeUpload(visit)],
    ["slow upload", () => checkPatience(visit)],
    ["idle connection", () => checkKeepAlive(visit)],
    ["request buffering", () => checkEarlyAnswer(visit)],
  ];
}

/** What a check finds; that there was no reply, where there was none. */
async function attempt([name, run]: Check): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    return [troubleFinding(name, error)];
  }
}

function troubleFinding(name: string, error: unknown): Finding {
  const { detail, remedy } = explainTrouble(error);
  return problem(name, detail, remedy);
}

/** `Date` has whole seconds: it may be up to one before the time of the reply. */
function dateReading(hello: Answer): ClockReading {
  const shownMs = Date.parse(headerOf(hello, "date") ?? "");
  return { beforeMs: Math.floor(hello.sentMs / 1000) * 1000, shownMs, afterMs: hello.arrivedMs };
}
