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

/** Checks a running service from outside, as a client, and leaves no data behind. */
export async function* examineMount(options: VisitOptions): AsyncGenerator<Finding> {
  const visit = createVisit(options);
  const { findings, isThere, hello } = await checkReach(visit);
  if (hello === null) {
    const lookup = isThere ? await attempt(["lookup", () => checkLookupMount(visit)]) : [];
    // A mount with only the lookup is valid.
    if (lookup.some(({ status }) => status === "ok")) {
      yield ok("mount", `${visit.base} has only the email lookup`);
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
    // The clock of the app; the Date header may come from a proxy.
    visit.clockAheadMs = clockAheadBy(created);
    // These checks mostly wait, so they run beside the others.
    waiting.push(...checksBeside(visit).map(attempt));
    await untilReady(visit, image.id);
    for (const check of checksOf(visit, image)) yield* await attempt(check);
    for (const found of waiting) yield* await found;
  } catch (error) {
    yield troubleFinding("upload", error);
  } finally {
    yield checkClock("clock", readings);
    // Their uploads must be deleted, too.
    await Promise.all(waiting);
    const left = await visit.leave();
    if (left.length > 0) {
      yield warning("leaving", `${left.join(" and ")} could not be deleted`, "They expire within a day");
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

/** Checks with separate files. */
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

/** The findings of a check; one problem if there was no reply. */
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

/** `Date` has whole seconds, so it may be up to 1 s before the time of the reply. */
function dateReading(hello: Answer): ClockReading {
  const shownMs = Date.parse(headerOf(hello, "date") ?? "");
  return { beforeMs: Math.floor(hello.sentMs / 1000) * 1000, shownMs, afterMs: hello.arrivedMs };
}
