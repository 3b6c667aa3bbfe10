import assert from "node:assert/strict";

/** A parsed reply of the API. */
export interface Answer {
  status: number;
  headers: Headers;
  // Tests read documented fields, and fail if one is missing.
  body: {
    data?: Record<string, unknown>;
    meta?: Record<string, unknown>;
    errors?: { id: string; code: number; details: string }[];
  };
}

/** Sends a request; the reply must be JSON whatever the status. */
export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8", text);
  return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
}

/** The status and error ID of a refusal. */
export function refusalOf({ status, body }: Pick<Answer, "status" | "body">): unknown[] {
  return [status, body.errors?.[0]?.id];
}
