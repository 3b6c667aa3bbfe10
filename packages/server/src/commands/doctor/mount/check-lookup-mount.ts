import { type Finding, ok, problem, warning } from "../finding.ts";
import { describeAnswer, headerOf, objectOf } from "./answer.ts";
import { remedies } from "./remedies.ts";
import type { MountVisit } from "./visit.ts";

const CHECK = "lookup";

/** Whether the email lookup answers here as it should. None where it is not mounted. */
export async function checkLookupMount(visit: MountVisit): Promise<Finding[]> {
  const answer = await visit.send("/v2/account");
  const { errors, data } = objectOf(answer);
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const id = typeof first === "object" && first !== null ? Object.entries(first) : [];
  const said = describeAnswer(answer);
  if (answer.status === 401 && id.some(([, value]) => value === "authentication_failed")) {
    return [ok(CHECK, "asks for a key")];
  }
  if (answer.status === 200 && typeof data === "object") return [ok(CHECK, "knows the key")];
  if (answer.status === 403 && id.length > 0) return [problem(CHECK, "asks for TLS", remedies.trustProxy)];
  const isJson = /\bjson\b/.test(headerOf(answer, "content-type") ?? "");
  if (answer.status === 401 || answer.status >= 500) {
    const remedy = isJson ? "Look into the logs of the app" : remedies.ownErrors;
    return [warning(CHECK, `/v2/account is answered with ${said}`, remedy)];
  }
  return [];
}
