import type { OutriggerError } from "@outrigger/client";
import { isError, systemCode } from "@outrigger/core/values";
import { reasonOf } from "../../cli/error-reason.ts";
import { printable } from "../../cli/printable.ts";

/** Codes of connections that fail because no service listens. */
const UNREACHABLE = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];
const NO_TLS = ["ERR_SSL_WRONG_VERSION_NUMBER"];

/** Why a request to the service at `baseUrl` failed, as a sentence without a full stop. */
export function failureText(error: OutriggerError, baseUrl: string): string {
  if (error.status === 0) {
    if (isUnreachable(error)) {
      return `No service responds at ${baseUrl}; start one with outrigger serve, or set another with --to or OUTRIGGER_URL`;
    }
    const reason = hasCode(error, NO_TLS) ? "the service does not speak TLS; try http://" : reasonOf(error);
    return `The connection to ${baseUrl} failed: ${printable(reason)}`;
  }
  // Of the successful replies that the client rejects, only a 202 comes from the service.
  if (error.status !== 202 && error.status < 300) {
    return `The service at ${baseUrl} is not Outrigger, or Outrigger is mounted at another path`;
  }
  if (error.status >= 300 && error.status < 400) {
    return `${baseUrl} redirects to another address; use that address, e.g. with https://`;
  }
  // The detail is untrusted text.
  const said =
    printable(error.detail.trim()).replace(/\.$/, "") || `${error.status} ${printable(error.title)}`;
  if (error.status === 404) return `${said} (${baseUrl})`;
  return error.retryAfterMs === null ? said : `${said} (retry in ${Math.ceil(error.retryAfterMs / 1000)} s)`;
}

/** Whether every other request to the same service would fail in the same way. */
export function isHopeless(error: OutriggerError): boolean {
  return isUnreachable(error) || error.status === 401;
}

function isUnreachable(error: OutriggerError): boolean {
  return error.status === 0 && hasCode(error, UNREACHABLE);
}

/** Whether any cause has one of these codes. */
function hasCode(error: unknown, codes: readonly string[]): boolean {
  if (!isError(error)) return false;
  return codes.includes(systemCode(error) ?? "") || hasCode(error.cause, codes);
}
