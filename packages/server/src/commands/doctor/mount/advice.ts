import { isError, systemCode } from "@outrigger/core/values";
import { reasonOf } from "../../../cli/error-reason.ts";
import { printable } from "../../../cli/print.ts";
import { type Finding, ok, problem } from "../finding.ts";
import { type Answer, headerOf, memberOf } from "./visit.ts";

/** Remedies of several checks, without a full stop. */
export const remedies = {
  trustProxy:
    'Let the app trust its proxy: Express app.set("trust proxy", 1), Koa app.proxy = true, outrigger serve trustProxy: 1; ' +
    "and let the proxy set X-Forwarded-Proto",
  shareStorage:
    "Configure the same storage and secret for all processes; storage in memory is visible to one process only",
  noCompression: "Switch compression off for this path (nginx: gzip off)",
  allowMethods:
    "Allow GET, HEAD, POST, PATCH, DELETE and OPTIONS in the proxy in front, and mount for all methods (app.use)",
  bodyLimit: "Raise the body limit of the proxy in front to maxUploadBytes (nginx: client_max_body_size 26m)",
  timeOuts: "Raise the timeouts of the proxy in front (nginx: client_body_timeout, proxy_read_timeout)",
  ownAddress: "Give clients that address, and set publicUrl to it: an upload does not survive a redirect",
  leaveHeaders: "Let the proxy or middleware in front (helmet, add_header) leave them and pages unchanged",
} as const;

/** The remedy for a fault that a check finds, and how grave the fault is. */
const FAULTS: Readonly<Record<string, readonly [remedy: string, status?: "warning"]>> = {
  redirect: [remedies.ownAddress, "warning"],
  "plain http": ['Redirect it to https://, and keep the option tls at "required"'],
  "error replies": [
    "Forward the replies of the app unchanged (nginx: proxy_intercept_errors off)",
    "warning",
  ],
  "User-Agent": ["Let the proxy in front forward it: every image shows it", "warning"],
  reading: ["Forward pictures unchanged"],
  HEAD: ["Forward HEAD, and Content-Length in its replies", "warning"],
  Range: ["Forward Range, Content-Range and Accept-Ranges", "warning"],
  ETag: ["Forward ETag and If-None-Match", "warning"],
  compression: [remedies.noCompression, "warning"],
  "safety headers": [remedies.leaveHeaders],
  "upload page": [remedies.leaveHeaders],
  viewer: [remedies.leaveHeaders],
  "edit page": [remedies.leaveHeaders],
  "reading after writing": [remedies.shareStorage],
  "If-Match": ["Let the proxy in front forward ETag and If-Match", "warning"],
  "after deletion": ["Lower cacheSeconds, and let the cache obey Cache-Control", "warning"],
  "Retry-After": ["Forward Retry-After", "warning"],
  "large picture": ["Check the option sendfile, and the lines of the proxy for it: see docs/mounting.md"],
};

/** Rates one state. @param fault What is wrong; `false` if nothing is. */
export function rate(check: string, fault: string | false): Finding {
  const [remedy = "", status = "problem"] = FAULTS[check] ?? [];
  return fault === false ? ok(check, "as expected") : { check, status, detail: fault, remedy };
}

/** What an unexpected reply means, by its description: the first that matches. */
const MEANINGS: readonly (readonly [said: RegExp, remedy: string, status?: "warning"])[] = [
  [/^30\d to /, remedies.ownAddress],
  [/SSL is required/, remedies.trustProxy],
  [/host is not served/, "Add this host to allowedHosts, or let the proxy forward Host"],
  [/PIN is missing/, "Let the proxy in front forward X-Service-Image-Pin"],
  [/PIN is wrong/, remedies.shareStorage],
  [
    /read the request body|no body|no file|Malformed|Nothing to change|body must/,
    "Mount Outrigger before body parsers (express.json(), multer, koa-body), or keep the parsed body on the request",
  ],
  [/User-Agent/, "Let the proxy in front forward User-Agent"],
  [/^40[13] /, 'Send the credentials of the app with --header "Name: value"', "warning"],
  [/^(?:404|405|501) .*not Outrigger's$/, remedies.allowMethods],
  [/^4(?:04|10) \(/, remedies.shareStorage],
  [/^408 \(/, "Raise uploadIdleMs if clients pause for that long", "warning"],
  [/^413 .*not Outrigger's$/, remedies.bodyLimit],
  [/^413 /, "Raise maxUploadBytes if such files are wanted", "warning"],
  [/^429 /, "Wait, or raise rateLimits.creates", "warning"],
  [/^507 /, "Free some space in the storage of the images"],
  [/^20\d /, "Forward replies unchanged"],
  [/^/, "Check that the app runs, and check the logs of the proxy and of the app"],
];

/** The finding for a reply that was not expected. @param before Words before the description of the reply. */
export function unexpected(check: string, answer: Answer, before = "answers "): Finding {
  const said = describeAnswer(answer);
  const [, remedy = "", status = "problem"] = MEANINGS.find(([pattern]) => pattern.test(said)) ?? [];
  return { check, status, detail: before + said, remedy };
}

/** The finding for a refused PATCH or DELETE: a reply that is not the service's comes from a proxy that forbids the method. */
export function refusedMethod(method: string, answer: Answer): Finding {
  const found = unexpected(method, answer);
  return problemDetail(answer) === "" ? problem(method, found.detail, remedies.allowMethods) : found;
}

/** The `detail` of a problem reply (RFC 9457); empty for any other reply. */
export function problemDetail(answer: Answer): string {
  const isProblem = /^application\/problem\+json\b/i.test(headerOf(answer, "Content-Type"));
  return isProblem ? String(memberOf(answer, "detail") ?? "") : "";
}

/** A reply as a clause: its status with its problem or its likely sender. Safe to print. */
export function describeAnswer(answer: Answer): string {
  const { status } = answer;
  const detail = problemDetail(answer);
  if (detail !== "") return printable(`${status} (${detail.replace(/\.$/, "")})`);
  if (status >= 300 && status < 400) return printable(`${status} to ${headerOf(answer, "Location")}`);
  const type = headerOf(answer, "Content-Type").split(";", 1)[0] || "no content";
  const server = headerOf(answer, "Server").replace(/^(?=.)/, " from ");
  return printable(`${status} with ${type}${status < 400 ? "" : `${server}, not Outrigger's`}`);
}

const TRUST =
  "Get a certificate from a public authority, or set NODE_EXTRA_CA_CERTS to the certificate of your own authority";
const UNKNOWN_AUTHORITY = ["its certificate comes from an unknown authority", TRUST] as const;
const NO_ROUTE = ["there is no route to it", "Check routes and firewalls"] as const;

/** Why there was no reply, and the remedy, by Node's code of the error. */
const TROUBLES: Readonly<Record<string, readonly [detail: string, remedy: string]>> = {
  ENOTFOUND: ["this name is not in the DNS", "Create an A or AAAA record for it"],
  EAI_AGAIN: ["the DNS does not respond", "Check this machine's resolver, and try again"],
  ECONNREFUSED: [
    "nothing listens at this address",
    "Start the app, and check the port and address that it listens on",
  ],
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  ETIMEDOUT: ["nothing answers in time", "Check firewalls, and whether the app is overloaded"],
  CERT_HAS_EXPIRED: ["its certificate has expired", "Renew it, and let the server load the new one"],
  CERT_NOT_YET_VALID: ["its certificate is not valid yet", "Compare the clocks of both machines"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["its certificate is self-signed", TRUST],
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    "its authority is unknown, or the server does not send the intermediate certificates",
    "Let the server send the full chain (nginx: ssl_certificate with fullchain.pem)",
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: ["its certificate is for another name", "Get one for this name"],
  EPROTO: [
    "the server does not speak TLS, or no version that this machine accepts",
    "Try http://, and let the server speak TLS 1.2 or newer",
  ],
  ECONNRESET: ["the connection was cut without a reply", "Check the logs of the proxy and of the app"],
};

/** The finding for a request without a reply. @param before Words before the reason. */
export function unanswered(check: string, error: unknown, before = ""): Finding {
  const other = [
    `the connection failed: ${reasonOf(error)}`,
    "Check the logs of the proxy in front",
  ] as const;
  const [detail, remedy] = TROUBLES[troubleCode(error)] ?? other;
  return problem(check, before + detail, remedy);
}

/** Node's code of an error, e.g. `ECONNREFUSED`; one code for each group of errors with the same meaning. */
export function troubleCode(error: unknown): string {
  if (!isError(error)) return "";
  // An AggregateError, from several addresses of one name.
  if ("errors" in error && Array.isArray(error.errors)) return troubleCode(error.errors[0]);
  const code = systemCode(error) ?? "";
  if (code.startsWith("ERR_SSL_") || code === "ERR_TLS_CERT_SIGNATURE_ALGORITHM_UNSUPPORTED") return "EPROTO";
  return code.startsWith("HPE_") || code === "EPIPE" ? "ECONNRESET" : code;
}
