import { expect, test } from "vitest";
import { frontForAll, NO_IMAGE, photo, refusalOf } from "./image-client.ts";
import { fileOf } from "./sources.ts";

const fronted = frontForAll();
const { client } = fronted;

test("an error page of a proxy becomes a one-line detail", async () => {
  const page = `<!doctype html><title>502 Bad\n Gateway</title><body>${"<p>nginx</p>".repeat(20_000)}`;
  fronted.front.interject({ status: 500, headers: { "Content-Type": "text/html" }, body: page });
  const error = await refusalOf(client().get(NO_IMAGE));
  expect(error).toMatchObject({
    status: 500,
    message:
      "The reply is a web page (500 Internal Server Error), which does not come from the service: 502 Bad Gateway",
  });
  fronted.front.interject({
    status: 418,
    headers: { "Content-Type": "text/plain" },
    body: "I am a teapot\nreally",
  });
  expect(await refusalOf(client().get(NO_IMAGE))).toMatchObject({
    status: 418,
    title: "I'm a Teapot",
    detail: "I am a teapot",
  });
  fronted.front.interject({ status: 400 });
  expect((await refusalOf(client().get(NO_IMAGE))).detail).toBe(
    "The server answered 400 Bad Request without saying why",
  );
});

test("a 200 that is not from the service rejects and mentions baseUrl", async () => {
  fronted.front.interject(
    { status: 200, headers: { "Content-Type": "text/html" }, body: "<title>Welcome</title>" },
    { status: 200, headers: { "Content-Type": "application/json" }, body: '{"ok":true}' },
    { status: 200, headers: { "Content-Type": "application/json" }, body: "[]" },
    { status: 200, headers: { "Content-Type": "application/json" }, body: "{" },
  );
  for (let count = 0; count < 4; count++) {
    expect(await refusalOf(client().get(NO_IMAGE))).toMatchObject({
      status: 200,
      title: "Unexpected reply",
      detail: expect.stringContaining("baseUrl"),
    });
  }
});

test("the client follows no redirect with a PIN, and removes a PIN that a proxy repeats from the message", async () => {
  const pin = "ABCDEFGH01234567";
  fronted.front.interject({ status: 308, headers: { Location: "https://elsewhere.example/img" } });
  const moved = await refusalOf(client().remove(NO_IMAGE, pin));
  expect(moved).toMatchObject({ status: 308, title: "Redirected" });
  expect(moved.detail).toContain("https://elsewhere.example/img");
  fronted.front.interject({ status: 307, headers: { Location: "https://elsewhere.example/img" } });
  expect(await refusalOf(client().upload(fileOf(photo)))).toMatchObject({ title: "Redirected" });
  fronted.front.interject({ status: 401 });
  expect(await refusalOf(client().upload(fileOf(photo)))).toMatchObject({ status: 401 });
  expect(fronted.front.requests).toHaveLength(3);
  fronted.front.requests.length = 1;
  fronted.front.interject({ status: 403, headers: { "Content-Type": "text/plain" }, body: `No: ${pin}` });
  expect((await refusalOf(client().remove(NO_IMAGE, pin))).message).toBe("No: …");
  expect(fronted.front.requests.map(({ headers }) => headers["x-service-image-pin"])).toEqual([pin, pin]);
});

test("the client retries after 502 and 504 with the same idempotency key", async () => {
  const html = { headers: { "Content-Type": "text/html" }, body: "<title>Bad gateway</title>" };
  fronted.front.interject({ status: 502, ...html }, { status: 504, ...html });
  const { id } = await client().upload(fileOf(photo));
  expect(fronted.front.requests).toHaveLength(3);
  expect(new Set(fronted.front.requests.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  fronted.front.interject({ status: 502, ...html });
  const once = client({ maxRetries: 0 });
  expect(await refusalOf(once.get(id))).toMatchObject({ status: 502 });
});

test("a truncated reply is retried, and rejects with status 0 without retries", async () => {
  const { id } = await client().upload(fileOf(photo));
  const half = { status: 200, headers: { "Content-Type": "application/json", "Content-Length": "100" } };
  fronted.front.interject({ ...half, body: '{"id":', isCut: true });
  expect(await client().get(id)).toMatchObject({ id });
  fronted.front.interject({ ...half, body: '{"id":', isCut: true });
  const once = client({ maxRetries: 0 });
  expect(await refusalOf(once.get(id))).toMatchObject({ status: 0, title: "No reply" });
  const png = { "Content-Type": "image/png" };
  for (const headers of [
    { ...png, "Content-Length": "100" },
    { ...png, "Transfer-Encoding": "chunked" },
  ]) {
    fronted.front.interject({ status: 200, headers, body: "abc", isCut: true });
    const cut = await once.download(id, "png");
    expect(await refusalOf(cut.bytes())).toMatchObject({ status: 0 });
  }
});
