import { describe, expect, it } from "vitest";
import { createLookupClient } from "./lookup-client.ts";
import { OutriggerError } from "./outrigger-error.ts";

interface Sent {
  method: string | undefined;
  url: string;
  headers: Headers;
  body: string;
}

/** A client of a service that gives these replies in turn, and the requests that it got. */
function clientOf(...replies: (Response | Error)[]) {
  const sent: Sent[] = [];
  const lookup = createLookupClient({
    ...{ baseUrl: "https://example.com/people", apiKey: "hush", maxRetries: 2 },
    async fetch(url, { method, headers, body } = {}) {
      const text = body === undefined ? "" : await new Response(body).text();
      sent.push({ method, url: String(url), headers: new Headers(headers), body: text });
      const reply = replies.shift();
      if (reply instanceof Response) return reply;
      throw reply ?? new Error("There is no further reply");
    },
  });
  return { lookup, sent };
}

const LIST = { id: "3q2-7wQdY0mJcX8bRkLh1A", total: 2, done: 0, status: "queued" };
const accepted = () => Response.json({ data: LIST }, { status: 202, headers: { "Retry-After": "2" } });

describe("verifyEmails", () => {
  it("sends addresses as JSON and resolves with the list at once", async () => {
    const { lookup, sent } = clientOf(accepted());
    expect(await lookup.verifyEmails(["ada@example.com", "bob@example.com"])).toEqual({ data: LIST });
    const [{ method, url, headers, body } = {} as Sent] = sent;
    expect([method, url]).toEqual(["POST", "https://example.com/people/v2/email-verifications"]);
    expect([headers.get("Content-Type"), headers.get("X-API-KEY")]).toEqual(["application/json", "hush"]);
    expect(JSON.parse(body)).toEqual({ emails: ["ada@example.com", "bob@example.com"] });
    expect(sent).toHaveLength(1);
  });

  it("sends a file of any type as CSV", async () => {
    const { lookup, sent } = clientOf(accepted());
    await lookup.verifyEmails(new File(["email\nada@example.com\n"], "people.csv", { type: "text/plain" }));
    expect(sent.map(({ headers, body }) => [headers.get("Content-Type"), body])).toEqual([
      ["text/csv", "email\nada@example.com\n"],
    ]);
  });

  it("is retried after 429, and not after a failure that may have started the list", async () => {
    const busy = new Response("", { status: 429, headers: { "Retry-After": "0" } });
    const retried = clientOf(busy, accepted());
    expect((await retried.lookup.verifyEmails(["a@example.com"])).data.id).toBe(LIST.id);
    for (const reply of [new Error("reset"), new Response("", { status: 503 })]) {
      const { lookup, sent } = clientOf(reply, accepted());
      await expect(lookup.verifyEmails(["a@example.com"])).rejects.toBeInstanceOf(OutriggerError);
      expect(sent).toHaveLength(1);
    }
  });

  it("rejects a reply that is not a list", async () => {
    const { lookup } = clientOf(Response.json({ data: null }, { status: 202 }));
    await expect(lookup.verifyEmails([])).rejects.toMatchObject({ title: "Unexpected reply" });
  });
});

describe("verification", () => {
  it("reads a page of a list, and the whole list as CSV", async () => {
    const page = {
      data: { ...LIST, results: [{ email: "a@example.com", result: null, status: null, score: null }] },
      meta: { results: 2, offset: 1, limit: 1 },
    };
    const csv = new Response("email,result\r\n", { headers: { "Content-Type": "text/csv; charset=utf-8" } });
    const { lookup, sent } = clientOf(Response.json(page), csv);
    expect(await lookup.verification(LIST.id, { offset: 1, limit: 1 })).toEqual(page);
    expect(await lookup.verificationCsv(LIST.id)).toBe("email,result\r\n");
    expect(sent.map(({ method, url }) => `${method} ${new URL(url).pathname}${new URL(url).search}`)).toEqual(
      [
        `GET /people/v2/email-verifications/${LIST.id}?offset=1&limit=1`,
        `GET /people/v2/email-verifications/${LIST.id}.csv`,
      ],
    );
  });

  it("rejects a text that is no ID with a TypeError, before a request is sent", async () => {
    const { lookup, sent } = clientOf();
    for (const id of ["", "../account", "a?b", "a".repeat(65)]) {
      await expect(lookup.verification(id)).rejects.toBeInstanceOf(TypeError);
      await expect(lookup.verificationCsv(id)).rejects.toBeInstanceOf(TypeError);
    }
    expect(sent).toEqual([]);
  });
});

it("verifyEmail rejects with the requested wait if that exceeds maxRetryAfterMs", async () => {
  const pending = Response.json({ data: {}, meta: {} }, { status: 202, headers: { "Retry-After": "93" } });
  const { lookup } = clientOf(pending);
  await expect(lookup.verifyEmail("ada@example.com")).rejects.toMatchObject({
    ...{ status: 202, retryAfterMs: 93_000 },
    detail: "The verification is still in progress: retry in 93 seconds",
  });
});
