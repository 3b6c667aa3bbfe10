import assert from "node:assert/strict";

/** A reply of the API, read. */
export interface Answer {
  status: number;
  headers: Headers;
  // Tests read what the API documents, and find out when it is not there.
  body: {
    data?: Record<string, unknown>;
    meta?: Record<string, unknown>;
    errors?: { id: string; code: number; details: string }[];
  };
}

/** Asks, and reads what must be JSON whatever the status. */
export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8", text);
  return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
}

/** What a refusal is: its status and the name of its error. */
export function refusalOf({ status, body }: Pick<Answer, "status" | "body">): unknown[] {
  return [status, body.errors?.[0]?.id];
}
