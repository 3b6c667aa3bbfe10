import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { locate, normaliseMountPath, stripPrefix, toOriginForm, unusualHost } from "./request-target.ts";

describe("toOriginForm", () => {
  it("returns a target in origin form unchanged", () => {
    for (const target of ["/", "//", "/a?b", "//evil.example/x", "/http://a.example/", "/%2e%2e/?"]) {
      expect(toOriginForm(target)).toBe(target);
    }
  });

  it("removes scheme and authority of the absolute form", () => {
    expect(toOriginForm("http://a.example")).toBe("/");
    expect(toOriginForm("HTTP://a.example:80/b?c")).toBe("/b?c");
    expect(toOriginForm("https://a.example?c=/d")).toBe("/?c=/d");
    expect(toOriginForm("http://user@a.example//b")).toBe("//b");
  });

  it("restores the leading slash that a framework has removed", () => {
    expect(toOriginForm("")).toBe("/");
    expect(toOriginForm("?a")).toBe("/?a");
    expect(toOriginForm("a/b")).toBe("/a/b");
  });

  it("returns null for the asterisk form", () => {
    expect(toOriginForm("*")).toBeNull();
  });
});

describe("stripPrefix", () => {
  it("removes whole segments only", () => {
    expect(stripPrefix("/img/a?b", "/img")).toBe("/a?b");
    expect(stripPrefix("/img", "/img")).toBe("/");
    expect(stripPrefix("/img?a", "/img")).toBe("/?a");
    expect(stripPrefix("/img//a", "/img")).toBe("//a");
    expect(stripPrefix("/imgx", "/img")).toBeNull();
    expect(stripPrefix("/im", "/img")).toBeNull();
    expect(stripPrefix("/a/img", "/img")).toBeNull();
    expect(stripPrefix("/a", "")).toBe("/a");
  });
});

describe("locate", () => {
  it.each([
    ["nothing removed", "/img/a?b", "/img/a?b", "/img", { url: "/a?b", mountPath: "/img" }],
    ["another path", "/imgx", "/imgx", "/img", null],
    ["the prefix removed", "/a?b", "/img/a?b", "", { url: "/a?b", mountPath: "/img" }],
    ["the prefix removed without a rest", "/?b", "/img?b", "", { url: "/?b", mountPath: "/img" }],
    ["the whole prefix removed and given", "/a", "/img/a", "/img", { url: "/a", mountPath: "/img" }],
    ["the whole prefix given", "/img/a", "/v1/img/a", "/v1/img", { url: "/a", mountPath: "/v1/img" }],
    ["the rest of the prefix given", "/img/a", "/v1/img/a", "/img", { url: "/a", mountPath: "/v1/img" }],
    ["the prefix in the path again", "/img/a", "/img/img/a", "/img", { url: "/img/a", mountPath: "/img" }],
    ["a rewritten path", "/img/a", "/old?c", "/img", { url: "/a", mountPath: "/img" }],
    ["the asterisk form", "*", "*", "", null],
  ])("finds the place of a request with %s", (_, url, originalUrl, prefix, place) => {
    expect(locate(url, originalUrl, prefix)).toEqual(place);
  });
});

describe("a mount path", () => {
  it("loses its trailing slash and is empty for the root", () => {
    expect(normaliseMountPath("/img/")).toBe("/img");
    expect(normaliseMountPath("/a/b")).toBe("/a/b");
    for (const root of ["", "/"]) expect(normaliseMountPath(root)).toBe("");
  });
});

describe("unusualHost", () => {
  const hostOf = (rawHeaders: string[], httpVersionMajor = 1, url = "/") =>
    unusualHost({ url, rawHeaders, httpVersionMajor } as IncomingMessage);

  it("is absent for one host, and for an authority of HTTP/2 with an equal host", () => {
    expect(hostOf(["Host", "a.example:80"])).toBeUndefined();
    expect(hostOf([":authority", "a.example", "host", "a.example"], 2)).toBeUndefined();
    expect(hostOf([":authority", "a.example"], 2)).toBeUndefined();
  });

  it("is the authority of an absolute target", () => {
    expect(hostOf(["Host", "a.example"], 1, "http://b.example/c")).toBe("b.example");
  });

  it("is no valid host for several, for a login, and for another host beside an authority", () => {
    expect(hostOf(["Host", "a.example", "host", "a.example"])).toBe("a.example, a.example");
    expect(hostOf(["Host", "user@a.example"])).toBe("user@a.example");
    expect(hostOf(["Host", "a.example, b.example"])).toBe("a.example, b.example");
    expect(hostOf([":authority", "a.example", "host", "b.example"], 2)).toBe("a.example, b.example");
  });
});
