import type { IncomingHttpHeaders } from "node:http";
import { printable } from "../../../cli/printable.ts";

/** The complete reply to a request. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Times at which the request began and the headers of the reply arrived, by this machine's clock. Unix milliseconds. */
  sentMs: number;
  arrivedMs: number;
  /** Whether the connection had served a request before. */
  isReused: boolean;
  /** Whether this machine sent the reply. */
  isLoopback: boolean;
  /** Days until the certificate ends; `null` without TLS. */
  certificateDays: number | null;
  /** e.g. `TLSv1.3`; `null` without TLS. */
  tlsVersion: string | null;
}

/** A header as one string; `undefined` if absent. */
export function headerOf({ headers }: Answer, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The JSON body as an object; empty if it is not one. */
export function objectOf({ body }: Pick<Answer, "body">): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
  } catch {
    // The body is not JSON.
    return {};
  }
}

/** The `detail` of a problem reply (RFC 9457); `null` for any other reply. */
export function problemDetail(answer: Answer): string | null {
  if (!/^application\/problem\+json\b/i.test(headerOf(answer, "content-type") ?? "")) return null;
  const { detail } = objectOf(answer);
  return typeof detail === "string" ? detail : null;
}

export function isRedirect({ status }: Answer): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** A reply as a clause: its status with its problem or its likely sender. Safe to print. */
export function describeAnswer(answer: Answer): string {
  const { status } = answer;
  const detail = problemDetail(answer);
  if (detail !== null) return printable(`${status} (${detail.replace(/\.$/, "")})`);
  if (isRedirect(answer)) return printable(`${status} to ${headerOf(answer, "location") ?? "nowhere"}`);
  const type = headerOf(answer, "content-type")?.split(";", 1)[0] ?? "no content";
  const server = headerOf(answer, "server");
  const from = server === undefined ? "" : ` from ${server}`;
  return printable(
    status < 400 ? `${status} with ${type}` : `${status} with ${type}${from}, not Outrigger's`,
  );
}
