import type { Call, Reply } from "../../contracts/call.ts";
import type { ReportView } from "../../contracts/pages.ts";
import { ServiceError } from "../../errors.ts";
import { clientKey } from "../../http/client.ts";
import { textReply } from "../../http/text-reply.ts";
import { findImage, requireAlive } from "../library/find-image.ts";
import { imageUrl } from "../record/image-links.ts";
import { type ImageRecord, isImageId } from "../record/image-record.ts";
import { parseReport, REPORT_SCHEMAS, type Report } from "../reports/report-case.ts";
import { baseUrl, countReport, type ImageContext, placeOf } from "./image-context.ts";
import { pageReply, requirePages } from "./pages/problem-page.ts";
import { FORM_HEADERS } from "./pages/upload-form.ts";

/** Enough for 2,000 characters of 4 bytes in a form. */
const MAX_BYTES = 64 * 1024;
const HOUR_MS = 3_600_000;
const NO_STORE = { "Cache-Control": "no-store" };

/** `POST {base}/api/reports.json` */
export async function createReport(context: ImageContext, call: Call): Promise<Reply> {
  const fields = await readFields(context, call);
  const { id } = fields;
  if (typeof id !== "string" || !isImageId(id)) {
    throw new ServiceError("bad_request", "id must be the ID of an image: 22 characters");
  }
  const parsed = parseReport(fields);
  if ("faults" in parsed) throw new ServiceError("bad_request", MESSAGES[parsed.faults[0] ?? "reason"]);
  await findReportable(context, call, id);
  const { reference, dueAt } = await file(context, call, id, parsed.report);
  const detail = `Thank you. The operator reviews the image by ${dueAt}. Keep the reference to refer to this report.`;
  const body = JSON.stringify({ id, reference, dueAt, detail });
  return textReply(call, 201, "application/json", body, NO_STORE);
}

const MESSAGES = {
  reason: `reason must be one of ${REPORT_SCHEMAS.reason.enum.join(", ")}`,
  statement: `statement must be a text of at most ${REPORT_SCHEMAS.statement.maxLength} characters`,
  contact: `contact must be a text of at most ${REPORT_SCHEMAS.contact.maxLength} characters`,
};

/** `GET HEAD {base}/<id>/report` */
export async function openReportForm(context: ImageContext, call: Call, id: string): Promise<Reply> {
  return formReply(context, call, await findReportable(context, call, id), 200, {});
}

/** `POST {base}/<id>/report` */
export async function sendReportForm(context: ImageContext, call: Call, id: string): Promise<Reply> {
  const fields = await readFields(context, call);
  const record = await findReportable(context, call, id);
  const parsed = parseReport(fields);
  if ("report" in parsed) {
    return formReply(context, call, record, 201, { filed: await file(context, call, id, parsed.report) });
  }
  const { reason = "", statement = "", contact = "" } = fields;
  const typed = { reason: String(reason), statement: String(statement), contact: String(contact) };
  return formReply(context, call, record, 400, { typed, faults: parsed.faults });
}

async function readFields(
  { settings }: ImageContext,
  call: Call,
): Promise<Readonly<Record<string, unknown>>> {
  return (await call.fields({ maxBytes: MAX_BYTES, idleMs: settings.uploadIdleMs })) ?? {};
}

/** The living image, ready or not, if the client may read it. */
async function findReportable(context: ImageContext, call: Call, id: string): Promise<ImageRecord> {
  const { library, permissions } = context;
  const current = await findImage(library, id, call.signal);
  await permissions.permitRead(call, current.record);
  if (permissions.areAsked) await requireAlive(library, current);
  return current.record;
}

async function file(context: ImageContext, { clientIp }: Call, id: string, report: Report) {
  const { library, settings } = context;
  const client = clientKey(clientIp);
  await countReport(context, client);
  const hours = settings.reportHours ?? 0; // Without hours there is no route.
  const tag = library.pins.tagOf(id, client);
  const { reference, dueAt } = await library.reports.file(id, report, hours * HOUR_MS, tag);
  return { reference, dueAt: new Date(dueAt).toISOString() };
}

function formReply(
  context: ImageContext,
  call: Call,
  { id, name }: ImageRecord,
  status: number,
  said: Pick<ReportView, "typed" | "faults" | "filed">,
): Reply {
  const base = baseUrl(context, call);
  const address = imageUrl(base, id);
  const page = requirePages(context).report?.({
    ...placeOf(context, call),
    name,
    action: `${address}/report`,
    viewUrl: `${address}/view`,
    reasons: REPORT_SCHEMAS.reason.enum,
    hours: context.settings.reportHours ?? 0,
    ...said,
  });
  if (page === undefined) throw new ServiceError("not_implemented", "These pages have no form for reports");
  return pageReply(call, page, status, { ...NO_STORE, ...FORM_HEADERS });
}
