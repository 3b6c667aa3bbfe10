import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { assertRefusal, exchange, fetchReply, jsonBody, post } from "./http-client.ts";
import { assertRawRefusal, consumedBodyTest, parsedTest, type Scope, withHost } from "./scope.ts";
import { json, replying } from "./services.ts";

const LIMITS = { maxBytes: 16 * 1024, idleMs: 5000 };
const JSON_TYPE = { "Content-Type": "application/json" };
const FORM_TYPE = { "Content-Type": "application/x-www-form-urlencoded" };

/** Echoes the fields as entries, so that no field name is special. */
const echo = replying(async (call) => {
  const fields = await call.fields(LIMITS);
  if (fields === null) return json(200, { fields: null });
  return json(200, {
    fields: Object.entries(fields),
    hasPrototype: Object.getPrototypeOf(fields) !== null,
  });
});

export function fieldsBehaviour(scope: Scope): void {
  const { test, wireTest, mountPath } = scope;

  async function expectFields(
    base: string,
    headers: Record<string, string>,
    body: string | Buffer | Buffer[],
    expected: Record<string, unknown> | null,
  ) {
    const reply = await post(base, headers, body);
    assert.equal(reply.status, 200, reply.body.toString());
    const seen = jsonBody(reply);
    assert.deepEqual(seen.fields, expected && Object.entries(expected));
    if (expected !== null) assert.equal(seen.hasPrototype, false);
  }

  test("fields() returns the values of a JSON object unchanged", () =>
    withHost(scope, echo, async (host) => {
      const text = '{"name":"Grüße","page":2,"deep":{"a":[1,null,true]},"__proto__":{"admin":true}}';
      const expected = JSON.parse(text);
      await expectFields(host.base, JSON_TYPE, text, expected);
      await expectFields(host.base, { "Content-Type": "Application/JSON; charset=UTF-8" }, text, expected);
      await expectFields(host.base, { "Content-Type": "application/merge-patch+json" }, text, expected);
      await expectFields(host.base, JSON_TYPE, `\uFEFF${text}`, expected);
      // Byte by byte and without a length, so that characters are split.
      const bytes = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
      await expectFields(host.base, JSON_TYPE, bytes, expected);
      assert.equal(Reflect.get({}, "admin"), undefined);
    }));

  wireTest("fields() reads a JSON body of a GET request", () =>
    withHost(scope, echo, async (host) => {
      const reply = await fetchReply(`${host.base}/`, { headers: JSON_TYPE, body: '{"a":"b"}' });
      assert.deepEqual(jsonBody(reply).fields, [["a", "b"]]);
    }),
  );

  test("fields() returns an urlencoded form as strings, and the last value of a repeated name", () =>
    withHost(scope, echo, async (host) => {
      const form = "name=Gr%C3%BC%C3%9Fe+%2B1&a=1&a=2&empty=&bare&x[y]=z&__proto__=p&&";
      const expected = { name: "Grüße +1", a: "2", empty: "", bare: "", "x[y]": "z", ["__proto__"]: "p" };
      await expectFields(host.base, FORM_TYPE, form, expected);
    }));

  test("fields() returns null if the request has no body", () =>
    withHost(scope, echo, async (host) => {
      for (const method of ["GET", "DELETE", "POST"]) {
        const reply = await fetchReply(`${host.base}/`, { method });
        assert.deepEqual(jsonBody(reply), { fields: null }, method);
      }
      await expectFields(host.base, JSON_TYPE, "", null);
      await expectFields(host.base, JSON_TYPE, [], null);
    }));

  test("fields() rejects a body that is malformed, not an object, not UTF-8, or of another media type", () =>
    withHost(scope, echo, async (host) => {
      const gzip = { ...JSON_TYPE, "Content-Encoding": "gzip" };
      const cases: [Record<string, string>, string | Buffer, number, string][] = [
        [JSON_TYPE, "{", 400, "bad_request"],
        [JSON_TYPE, " ", 400, "bad_request"],
        [JSON_TYPE, "[1]", 400, "bad_request"],
        [JSON_TYPE, "null", 400, "bad_request"],
        [JSON_TYPE, "7", 400, "bad_request"],
        [JSON_TYPE, '"text"', 400, "bad_request"],
        [JSON_TYPE, Buffer.from('{"a":"\xff"}', "latin1"), 400, "bad_request"],
        [FORM_TYPE, "a=%ff", 400, "bad_request"],
        [FORM_TYPE, "a=%zz", 400, "bad_request"],
        [FORM_TYPE, "%c3=1", 400, "bad_request"],
        [FORM_TYPE, Buffer.from("a=\xff", "latin1"), 400, "bad_request"],
        [{}, "{}", 415, "unsupported_media"],
        [{ "Content-Type": "text/plain" }, "{}", 415, "unsupported_media"],
        [{ "Content-Type": "multipart/form-data; boundary=x" }, "--x--", 415, "unsupported_media"],
        [{ "Content-Type": "application/json; charset=utf-16" }, "{}", 415, "unsupported_media"],
        [{ "Content-Type": "json" }, "{}", 415, "unsupported_media"],
        [gzip, gzipSync("{}"), 415, "unsupported_media"],
      ];
      for (const [headers, body, status, code] of cases) {
        const reply = await post(host.base, headers, body);
        assertRefusal(reply, status, code, String(body));
      }
    }));

  test("fields() accepts a body of exactly maxBytes and rejects one byte more, with and without Content-Length", () =>
    withHost(scope, echo, async (host) => {
      const full = Buffer.from(`{"a":"${"x".repeat(LIMITS.maxBytes - 8)}"}`);
      const over = Buffer.from(`{"a":"${"x".repeat(LIMITS.maxBytes - 7)}"}`);
      assert.equal(full.length, LIMITS.maxBytes);
      for (const body of [full, [full.subarray(0, 100), full.subarray(100)]]) {
        const reply = await post(host.base, JSON_TYPE, body);
        assert.equal(reply.status, 200);
      }
      for (const body of [over, [over.subarray(0, 100), over.subarray(100)]]) {
        const reply = await post(host.base, JSON_TYPE, body);
        assertRefusal(reply, 413, "too_large");
      }
    }));

  test("fields() rejects with timeout if the body stops", async () => {
    const hasty = replying(async (call) => json(200, await call.fields({ maxBytes: 100, idleMs: 50 })));
    await withHost(scope, hasty, async (host) => {
      const raw = await exchange(
        host.origin,
        [
          `POST ${mountPath}/ HTTP/1.1\r\nHost: a.example\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a"`,
        ],
        "the timeout",
      );
      assertRawRefusal(scope, raw, 408, "timeout");
    });
  });

  const name = "fields() returns the fields that a body parser of the host has read";
  parsedTest(scope, "fields", name, echo, async (host) => {
    await expectFields(host.base, JSON_TYPE, '{"a":1,"b":{"c":"d"}}', { a: 1, b: { c: "d" } });
    await expectFields(host.base, FORM_TYPE, "a=1&a=2&b=c", { a: "2", b: "c" });
    assertRefusal(await post(host.base, JSON_TYPE, "[1]"), 400, "bad_request");
    assert.deepEqual(jsonBody(await fetchReply(`${host.base}/`)), { fields: null });
  });

  consumedBodyTest(scope, "fields()", echo, JSON_TYPE, "{}");
}
