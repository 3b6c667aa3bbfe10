import { expect, test } from "vitest";
import { createCall } from "../../test/calls.ts";
import { createRecordingObserver } from "../../test/recording-observer.ts";
import { textPages } from "../../test/text-pages.ts";
import type { Service } from "../contracts/call.ts";
import { createRouter } from "../images/http/router.ts";
import { observeService } from "./service-shell.ts";

const ID = "AbCdEfGhIjKlMnOpQrSt_-";

const ours: Service = { handle: async () => ({ status: 200, headers: {} }) };
const hosts: Service = { handle: async () => undefined };

const match = createRouter(textPages);
const routeOf = (path: string) => match(path)?.route;

async function observed(service: Service, method: string, path: string) {
  const observer = createRecordingObserver();
  const reply = await observeService(service, observer, routeOf).handle(createCall(method, path));
  return { reply, ended: observer.ended };
}

test.each([
  ["POST", "/api/images.json", "/api/images.json"],
  ["POST", "/api/images.txt/", "/api/images.txt"],
  ["PATCH", `/api/images/${ID}.json`, "/api/images/{id}.json"],
  ["GET", `/api/images/${ID}.png`, "/api/images/{id}.png"],
  ["GET", `/api/images/${ID}.jpeg`, "/api/images/{id}.jpg"],
  ["HEAD", `/${ID}`, "/{id}"],
  ["GET", `/${ID}/view`, "/{id}/view"],
  ["DELETE", `/${ID}/edit`, "/{id}/edit"],
  ["OPTIONS", "/api/images/secret.exe", "/api/images/*"],
  ["GET", "/api/images.exe", "/api/images/*"],
  ["GET", "/api/images/a/b/c", "/api/images/*"],
])("%s %s is observed with the route %s", async (method, path, route) => {
  const { reply, ended } = await observed(ours, method, path);
  expect(reply).toEqual({ status: 200, headers: {} });
  expect(ended).toMatchObject([{ operation: { kind: "request", method, route }, outcome: "200" }]);
});

test("an unknown method is observed as other", async () => {
  const { ended } = await observed(ours, "BREW", `/${ID}`);
  expect(ended).toMatchObject([{ operation: { method: "other" } }]);
});

test("a request outside the service's paths is not observed, but is passed on", async () => {
  expect(await observed(hosts, "GET", "/checkout")).toEqual({ reply: undefined, ended: [] });
  expect(await observed(ours, "GET", "/api/imagesque")).toMatchObject({ reply: { status: 200 }, ended: [] });
});

test("a request that the host answers after all is observed as next", async () => {
  const { reply, ended } = await observed(hosts, "GET", `/${ID}`);
  expect(reply).toBeUndefined();
  expect(ended).toMatchObject([{ operation: { route: "/{id}" }, outcome: "next" }]);
});

test("the observer receives the headers with their traceparent, and a rejection passes through unchanged", async () => {
  const failure = new Error("for the host");
  const observer = createRecordingObserver();
  const service = observeService({ handle: () => Promise.reject(failure) }, observer, routeOf);
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const call = createCall("GET", `/${ID}`, { headers: { traceparent } });
  await expect(service.handle(call)).rejects.toBe(failure);
  expect(observer.ended).toMatchObject([{ operation: { headers: { traceparent } }, outcome: "threw" }]);
});
