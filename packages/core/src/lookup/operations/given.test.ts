import { describe, expect, test } from "vitest";
import { readQuery } from "../http/query.ts";
import { type Given, readArguments, waitMsOf, wholeOf, wordOf, wordsOf } from "./given.ts";
import { LOOKUP_PARAMETERS } from "./parameters.ts";

/** The same parameters in a library call and in a query. */
const CALLERS: [string, (type: string, limit?: number) => Given][] = [
  ["a library call", (type, limit) => readArguments({ type, limit })],
  [
    "a query",
    (type, limit) =>
      readQuery(`type=${encodeURIComponent(type)}${limit === undefined ? "" : `&limit=${limit}`}`),
  ],
];

describe.each(CALLERS)("the parameters of %s", (_, given) => {
  test("a word is recognised in any case and with blanks around it", () => {
    for (const written of ["personal", "PERSONAL", " Personal\t", "pErSoNaL "]) {
      expect(wordOf(given(written), "type", LOOKUP_PARAMETERS.type, "invalid_type")).toBe("personal");
    }
  });

  test("an empty or blank text counts as absent", () => {
    for (const written of ["", " ", "\t \n"]) {
      expect(given(written).text("type")).toBeNull();
      expect(wordOf(given(written), "type", LOOKUP_PARAMETERS.type, "invalid_type")).toBeNull();
    }
  });

  test("another word is rejected with the parameter's ID and the words that are accepted", () => {
    for (const written of ["person", "personal generic", "personal,generic", "personal\0"]) {
      expect(() => wordOf(given(written), "type", LOOKUP_PARAMETERS.type, "invalid_type")).toThrow(
        expect.objectContaining({ id: "invalid_type", message: "type must be one of personal, generic" }),
      );
    }
  });

  test("a text keeps its blanks and case, and has at most 1000 code points", () => {
    expect(given(" Ada ").text("type")).toBe(" Ada ");
    expect(given("💩".repeat(1000)).text("type")).toHaveLength(2000);
    for (const long of ["a".repeat(1001), "💩".repeat(1001)]) {
      expect(() => given(long).text("type")).toThrow(
        expect.objectContaining({ id: "wrong_params", message: "type must have at most 1000 characters" }),
      );
    }
  });

  test("a number is the default if absent, and rejected beyond its bounds", () => {
    const limitOf = (limit?: number) =>
      wholeOf(given("", limit), "limit", LOOKUP_PARAMETERS.limit, "pagination_error");
    expect([limitOf(), limitOf(0), limitOf(100)]).toEqual([10, 0, 100]);
    for (const limit of [-1, 101, 1.5, Number.NaN]) {
      expect(() => limitOf(limit)).toThrow(
        expect.objectContaining({
          id: "pagination_error",
          message: "limit must be a whole number from 0 to 100",
        }),
      );
    }
  });
});

test("a list of words ignores case, blanks, empty words and repetitions, and has the order of the schema", () => {
  const seniorityOf = (given: Given) =>
    wordsOf(given, "seniority", LOOKUP_PARAMETERS.seniority, "invalid_seniority");
  const lists: [readonly string[], string][] = [
    [["senior", " Junior ", "SENIOR", ""], "senior,%20Junior%20;SENIOR,"],
    [["JUNIOR", "senior"], "JUNIOR,senior"],
  ];
  for (const [words, query] of lists) {
    expect(seniorityOf(readArguments({ seniority: words }))).toEqual(["junior", "senior"]);
    expect(seniorityOf(readQuery(`seniority=${query}`))).toEqual(["junior", "senior"]);
  }
  for (const none of [readArguments({ seniority: [] }), readArguments({}), readQuery("seniority=")]) {
    expect(seniorityOf(none)).toBeNull();
  }
  for (const wrong of [
    ...[["boss"], ["senior", "boss"], [""], "senior", 5].map((seniority) => readArguments({ seniority })),
    ...["boss", "senior,boss", ",,,"].map((words) => readQuery(`seniority=${words}`)),
  ]) {
    expect(() => seniorityOf(wrong)).toThrow(expect.objectContaining({ id: "invalid_seniority" }));
  }
});

test("of a repeated parameter of a query the first value that is not blank counts", () => {
  expect(readQuery("type=&type=%20&type=generic&type=personal").text("type")).toBe("generic");
  expect(readQuery("limit=&limit=5&limit=x").number("limit")).toBe(5);
});

test("the longest wait is in milliseconds in a library call, and in seconds in a query", () => {
  const waits = [{}, { maxDurationMs: 3000 }, { maxDurationMs: 3001 }, { maxDurationMs: 20_000 }];
  expect(waits.map((given) => waitMsOf(readArguments(given)))).toEqual([10_000, 3000, 3001, 20_000]);
  const queries = ["", "max_duration=3", "max_duration=20"];
  expect(queries.map((query) => waitMsOf(readQuery(query)))).toEqual([10_000, 3000, 20_000]);
  for (const [given, message] of [
    [readArguments({ maxDurationMs: 2999 }), "maxDurationMs must be a whole number from 3000 to 20000"],
    [readArguments({ maxDurationMs: 20_001 }), "maxDurationMs must be a whole number from 3000 to 20000"],
    [readQuery("max_duration=2"), "max_duration must be a whole number from 3 to 20"],
    [readQuery("max_duration=21"), "max_duration must be a whole number from 3 to 20"],
  ] as const) {
    expect(() => waitMsOf(given)).toThrow(expect.objectContaining({ id: "invalid_max_duration", message }));
  }
});

test("a library call rejects a text that is not a string, and a query one that is not UTF-8", () => {
  for (const domain of [5, true, {}, ["example.com"]]) {
    expect(() => readArguments({ domain }).text("domain")).toThrow(
      expect.objectContaining({ id: "wrong_params", message: "domain must be a string" }),
    );
  }
  for (const query of ["domain=%FF", "domain=%zz", "other=%C3"]) {
    expect(() => readQuery(query)).toThrow(expect.objectContaining({ id: "wrong_params" }));
  }
});
