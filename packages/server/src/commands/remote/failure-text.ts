import type { OutriggerError } from "@outrigger/client";
import { isError, systemCode } from "@outrigger/core";
import { reasonOf } from "../../cli/error-reason.ts";
import { printable } from "../../cli/printable.ts";

/** Codes of system calls that fail without a listener. */
const NOBODY = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];
const NO_TLS = ["ERR_SSL_WRONG_VERSION_NUMBER"];

/** Why the service at `baseUrl` did not do what it was asked to, as a sentence without a full stop. */
export function failureText(error: OutriggerError, baseUrl: string): string {
  if (error.status === 0) {
    if (isNobodyThere(error)) {
      return `Nothing answers at ${baseUrl}; start one with outrigger serve, or name another with --to or OUTRIGGER_URL`;
    }
    const reason = hasCode(error, NO_TLS) ? "it does not speak TLS there; try http://" : reasonOf(error);
    return `The connection to ${baseUrl} failed: ${printable(reason)}`;
  }
  // Only a 202 is an answer of the service; any other success is one that says nothing which it could have said.
  if (error.status !== 202 && error.status < 300) {
    return `What answers at ${baseUrl} is not Outrigger, or it is mounted elsewhere there`;
  }
  if (error.status >= 300 && error.status < 400) {
    return `${baseUrl} only leads elsewhere; name what it leads to, as with https://`;
  }
  // The detail is untrusted text.
  const said =
    printable(error.detail.trim()).replace(/\.$/, "") || `${error.status} ${printable(error.title)}`;
  if (error.status === 404) return `${said} (${baseUrl})`;
  return error.retryAfterMs === null ? said : `${said} (again in ${Math.ceil(error.retryAfterMs / 1000)} s)`;
}

/** Whether asking the same service for anything else would fail in the same way. */
export function isHopeless(error: OutriggerError): boolean {
  return isNobodyThere(error) || error.status === 401;
}

function isNobodyThere(error: OutriggerError): boolean {
  return error.status === 0 && hasCode(error, NOBODY);
}

/** Whether one of these codes is anywhere among the causes. */
function hasCode(error: unknown, codes: readonly string[]): boolean {
  if (!isError(error)) return false;
  return codes.includes(systemCode(error) ?? "") || hasCode(error.cause, codes);
}
