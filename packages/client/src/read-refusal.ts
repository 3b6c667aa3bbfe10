import { type LookupFault, OutriggerError } from "./outrigger-error.ts";
import { isJson, isObject, parseObject, type Reply } from "./reply.ts";
import { parseRetryAfter } from "./waiting.ts";

const MAX_DETAIL_LENGTH = 500;
const MAX_PAGE_TITLE_LENGTH = 100;

/** The text of a refusal. */
interface Words {
  title?: string | undefined;
  detail?: string | undefined;
  errors?: LookupFault[];
}

/**
 * The error for a refusal of any form: a problem (RFC 9457), the lookup's list of errors, a line of text, or the page of a
 * proxy. Of a page only the title is used.
 * @param secrets Texts that are removed from the error, since the reply may quote them.
 */
export function readRefusal(reply: Reply, secrets: readonly string[] = []): OutriggerError {
  const status = `${reply.status} ${reply.statusText}`.trim();
  const { title, detail, errors } = wordsOf(reply);
  const hide = (text: string) => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, "…"), text);
  return new OutriggerError({
    status: reply.status,
    title: hide(title ?? (reply.statusText || `HTTP ${reply.status}`)),
    detail: hide(detail ?? `The server answered ${status} without saying why`),
    retryAfterMs: parseRetryAfter(reply.headers, Date.now()),
    ...(errors === undefined
      ? {}
      : { errors: errors.map((each) => ({ ...each, details: hide(each.details) })) }),
  });
}

function wordsOf({ status, statusText, headers, text }: Reply): Words {
  const location = headers.get("Location");
  if (status >= 300 && status < 400) {
    const where = location === null ? "" : ` to ${oneLine(location, MAX_DETAIL_LENGTH)}`;
    return {
      title: "Redirected",
      detail: `The address redirects${where === "" ? " to another address" : where}: set baseUrl to its target`,
    };
  }
  const object = isJson(headers) ? parseObject(text) : null;
  if (object !== null) return wordsOfJson(object);
  const type = headers.get("Content-Type") ?? "";
  if (/^text\/html\b|^application\/xhtml/i.test(type))
    return wordsOfPage(`${status} ${statusText}`.trim(), text);
  const line = /^text\/plain\b/i.test(type)
    ? oneLine(text.trim().split("\n", 1)[0] ?? "", MAX_DETAIL_LENGTH)
    : "";
  return line === "" ? {} : { detail: line };
}

function wordsOfJson(object: Record<string, unknown>): Words {
  const errors = Array.isArray(object.errors) ? object.errors.flatMap(faultOf) : [];
  if (errors.length > 0) {
    const detail = oneLine(errors.map(({ details }) => details).join("; "), MAX_DETAIL_LENGTH);
    return { title: errors[0]?.id, detail, errors };
  }
  return { title: textOf(object.title), detail: textOf(object.detail) };
}

function faultOf(value: unknown): LookupFault[] {
  if (!isObject(value)) return [];
  const { id, code, details } = value;
  if (typeof id !== "string" || typeof details !== "string") return [];
  return [{ id, code: typeof code === "number" ? code : 0, details }];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? oneLine(value, MAX_DETAIL_LENGTH) : undefined;
}

function wordsOfPage(status: string, html: string): Words {
  const [, written = ""] = /<title[^>]*>([^<]*)</i.exec(html) ?? [];
  const title = oneLine(written, MAX_PAGE_TITLE_LENGTH);
  const says = title === "" ? "" : `: ${title}`;
  return { detail: `The reply is a web page (${status}), which does not come from the service${says}` };
}

/** One line of text without control characters, cut at `maxLength`. */
function oneLine(text: string, maxLength: number): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > maxLength ? `${line.slice(0, maxLength).trimEnd()}…` : line;
}
