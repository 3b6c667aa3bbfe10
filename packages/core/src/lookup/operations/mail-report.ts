import { ServiceError } from "../../errors.ts";
import { patternOf } from "../../schema/json-schema.ts";
import { mainAddress, type ParsedAddress } from "../address/parse-address.ts";
import { pastedAddress } from "../address/parse-mailboxes.ts";
import type { MailReportAnswer } from "../answers.ts";
import { claimed, LookupProblem } from "../lookup-problem.ts";
import { recordReport } from "../verify/verify-address.ts";
import { requireUnclaimed } from "./email-verifier.ts";
import { missing, wordOf } from "./given.ts";
import type { LookupOperation } from "./operation.ts";
import { LOOKUP_PARAMETERS, type ReportKind } from "./parameters.ts";

type Data = MailReportAnswer["data"];
type Params = MailReportAnswer["meta"]["params"];

/** "Bad destination mailbox address", "mailbox has moved", "recipient address has null MX" (RFC 3463, 7505). */
const OF_MAILBOX = ["5.1.1", "5.1.6", "5.1.10"];
const CODE = patternOf(LOOKUP_PARAMETERS.code);
const WRONG_CODE =
  "code must be an enhanced status code such as 5.1.1, or a reply that begins with its codes";

export const mailReport: LookupOperation<Params & { parsed: ParsedAddress }, Data, Params, object> = {
  parameters: ["email", "kind", "code"],

  check(given) {
    const email = given.text("email")?.trim();
    const kind = wordOf(given, "kind", LOOKUP_PARAMETERS.kind, "wrong_params");
    if (email === undefined) throw missing(given, "the email");
    if (kind === null) throw missing(given, "the kind");
    const parsed = pastedAddress(email);
    if (parsed === null) throw new LookupProblem("invalid_email", "The email address is not valid");
    const code = given.text("code")?.trim() ?? null;
    if (code !== null && !CODE.test(code)) throw new LookupProblem("wrong_params", WRONG_CODE);
    return { email, kind, code, parsed };
  },

  echo: ({ email, kind, code }) => ({ email, kind, code }),

  async work(context, { email, parsed, kind, code }, account) {
    const { accounts, suppressions, settings } = context;
    const { address } = parsed;
    await requireUnclaimed(context, address);
    const verdict = verdictAfter(kind, code);
    // Nothing would read other reports, which are personal data.
    if (kind === "complained" || verdict === null) return { data: { email, verdict }, meta: {} };
    if (accounts.report === undefined)
      throw new ServiceError("host_misuse", "The accounts accept no reports");
    const report = { address, account: account?.id ?? null, kind, at: settings.now() };
    await accounts.report(report);
    // Suppressed meanwhile.
    if ((await suppressions.ofAddress(address)) !== null) {
      await accounts.eraseReports?.(mainAddress(address));
      throw claimed();
    }
    if (account === null) await recordReport(context, parsed, report);
    return { data: { email, verdict }, meta: {} };
  },

  sample: (_, { email, kind, code }) => ({ data: { email, verdict: verdictAfter(kind, code) }, meta: {} }),
};

function verdictAfter(kind: ReportKind, code: string | null): Data["verdict"] {
  if (kind === "delivered") return "valid";
  const [, basic = "5", ...enhanced] = CODE.exec(code ?? "") ?? [];
  const isDead = basic === "5" && OF_MAILBOX.some((each) => enhanced.includes(each));
  return kind === "bounced" && isDead ? "invalid" : null;
}
