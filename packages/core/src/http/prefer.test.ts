import { expect, test } from "vitest";
import { parseAsyncPreference } from "./request-headers.ts";

test("parseAsyncPreference reads respond-async and its wait", () => {
  const headers: Record<string, number> = {
    "respond-async": 0,
    "Respond-Async": 0,
    "respond-async, wait=10": 10_000,
    "wait=10,respond-async": 10_000,
    "respond-async, wait = 10": 10_000,
    'respond-async, wait="10"': 10_000,
    "respond-async, wait=10, wait=20": 10_000,
    "respond-async, wait=soon": 0,
    "respond-async, wait=-1": 0,
    "respond-async, wait=99999999999": 0,
    'respond-async=""': 0,
    "respond-async; foo=bar, wait=3": 3000,
    'return=minimal; a="x, y; z", respond-async': 0,
    'foo="a \\" , b", respond-async': 0,
    ", ,respond-async,": 0,
    "?, respond-async": 0,
  };
  for (const [header, waitMs] of Object.entries(headers)) {
    expect(parseAsyncPreference(header), header).toEqual({ waitMs });
  }
});

test("parseAsyncPreference returns null for a header without the preference", () => {
  const headers = [
    undefined,
    "",
    "wait=10",
    "return=minimal",
    "respond-asynchronously",
    "respond-async=later",
  ];
  const more = [
    "respond async",
    'foo="respond-async"',
    'foo="a, respond-async',
    "return=minimal; respond-async",
  ];
  for (const header of [...headers, ...more]) expect(parseAsyncPreference(header), header).toBeNull();
});

test("several Prefer lines are read as one list", () => {
  expect(parseAsyncPreference(["wait=2", "respond-async"])).toEqual({ waitMs: 2000 });
});

test("a long malformed Prefer header is parsed in linear time", () => {
  const began = process.cpuUsage();
  expect(parseAsyncPreference(`${'"\\'.repeat(800_000)}`)).toBeNull();
  expect(parseAsyncPreference(`${"a=".repeat(800_000)}`)).toBeNull();
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(20_000);
});
