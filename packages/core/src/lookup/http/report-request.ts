import type { Call, Reply } from "../../contracts/call.ts";
import { readArguments } from "../operations/given.ts";
import { mailReport } from "../operations/mail-report.ts";
import { answerOf } from "../operations/operation.ts";
import type { LookupHttp } from "./answer-request.ts";
import { bodyRefusal } from "./list-reader.ts";
import { admit } from "./list-requests.ts";
import { jsonReply, RefusedRequest } from "./refusal.ts";

/** Enough for an address, a kind and a reply of a mail server. */
const LIMITS = { maxBytes: 16 * 1024, idleMs: 15_000 };
const NOT_JSON = 'The body must be a JSON object: {"email", "kind", "code"}';

/** `POST /v2/reports` */
export async function addReportReply(http: LookupHttp, call: Call): Promise<Reply> {
  const { account, isTest } = (await admit(http, call)).caller;
  if (!isTest && account?.reports !== true) {
    throw new RefusedRequest(
      "forbidden",
      "This key may not report. Use a key that was created with this right",
    );
  }
  // A page of another site can send a form with the cookies of the host, but no JSON.
  if (/^application\/x-www-form-urlencoded/i.test(call.headers["content-type"] ?? "")) {
    throw new RefusedRequest("unsupported_media", NOT_JSON);
  }
  const body = await call.fields(LIMITS).catch((error: unknown) => Promise.reject(bodyRefusal(error)));
  if (body === null) throw new RefusedRequest("wrong_params", NOT_JSON);
  const parameters = mailReport.check(readArguments(body));
  const found = isTest
    ? mailReport.sample(http.lookup, parameters)
    : await mailReport.work(http.lookup, parameters, account);
  return jsonReply(200, answerOf(mailReport, parameters, found));
}
