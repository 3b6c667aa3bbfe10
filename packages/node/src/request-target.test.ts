import { checkValue } from "@outrigger/core/stores";
import { describe, expect, it } from "vitest";
import { mountPathRule, normaliseMountPath, stripPrefix, toOriginForm } from "./request-target.ts";

describe("toOriginForm", () => {
  it("keeps a target in origin form as it is", () => {
    for (const target of ["/", "//", "/a?b", "//evil.example/x", "/http://a.example/", "/%2e%2e/?"]) {
      expect(toOriginForm(target)).toBe(target);
    }
  });

  it("takes scheme and authority off an absolute form", () => {
    expect(toOriginForm("http://a.example")).toBe("/");
    expect(toOriginForm("HTTP://a.example:80/b?c")).toBe("/b?c");
    expect(toOriginForm("https://a.example?c=/d")).toBe("/?c=/d");
    expect(toOriginForm("http://user@a.example//b")).toBe("//b");
  });

  it("puts the slash back that a framework has taken off", () => {
    expect(toOriginForm("")).toBe("/");
    expect(toOriginForm("?a")).toBe("/?a");
    expect(toOriginForm("a/b")).toBe("/a/b");
  });

  it("is null for the asterisk", () => {
    expect(toOriginForm("*")).toBeNull();
  });
});

describe("stripPrefix", () => {
  it("takes off whole segments only", () => {
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

describe("mount paths", () => {
  it("lose a trailing slash, and are empty for the root", () => {
    expect(normaliseMountPath("/img/")).toBe("/img");
    expect(normaliseMountPath("/a/b")).toBe("/a/b");
    for (const root of ["", "/"]) expect(normaliseMountPath(root)).toBe("");
  });

  it("that are no paths are refused by a TypeError that names the option", () => {
    for (const path of ["img", "/a?b", "/a#b", "/*", 1, null]) {
      expect(() => checkValue("prefix", path, mountPathRule)).toThrow(
        `prefix must be a path that begins with "/", such as "/img", not ${JSON.stringify(path)}`,
      );
    }
  });
});
