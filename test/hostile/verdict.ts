import { expect } from "vitest";
import type { RawReply } from "./raw-http.ts";

/** The contents of a reply, from any client. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export async function answerOf(reply: Response | RawReply | null): Promise<Answer | null> {
  if (reply === null) return null;
  if (reply instanceof Response) {
    return {
      status: reply.status,
      headers: Object.fromEntries(reply.headers),
      body: await reply.text(),
    };
  }
  return { status: reply.status, headers: reply.headers, body: reply.body.toString("utf8") };
}

/** Text that reveals a process' internals: stack frames, paths of source files, names of system call errors. */
const INSIDE =
  /\n\s+at |node_modules|node:internal|file:\/\/|\.[cm]?[jt]s:\d+|\bE(?:NOENT|ACCES|PIPE|MFILE|INVAL)\b/;

/**
 * Asserts that a reply is our refusal: one of `statuses`, an RFC 9457 problem whose detail gives the client a reason,
 * not cacheable, and without internals.
 */
export function expectProblem(answer: Answer | null, statuses: readonly number[], said: string): void {
  expect(answer, `${said}: closed without a reply`).not.toBeNull();
  if (answer === null) return;
  const { status, headers, body } = answer;
  expect(statuses, `${said}: ${status} ${body.slice(0, 300)}`).toContain(status);
  expect(headers["content-type"], said).toBe("application/problem+json; charset=utf-8");
  expect(headers["cache-control"], said).toBe("no-store");
  expect(headers["x-content-type-options"], said).toBe("nosniff");
  const problem = JSON.parse(body) as Record<string, unknown>;
  expect(problem, said).toEqual({
    type: "about:blank",
    title: expect.any(String),
    status,
    detail: expect.stringMatching(/\S.{8,}/),
    instance: expect.stringMatching(/^\//),
  });
  expect(problem.detail, said).not.toMatch(INSIDE);
  if (status === 503 || status === 429) expect(Number(headers["retry-after"]), said).toBeGreaterThan(0);
}

/** Node's own refusal of malformed HTTP, before any application code has seen it. */
export function isNodeRefusal(answer: Answer | null): boolean {
  return answer !== null && answer.status < 500 && answer.headers["content-type"] === undefined;
}
