import { describe, expect, it } from "vitest";
import { safeHeaders, safeTarget } from "./redact.ts";

const PIN = "0123456789ABCDEF";
const ID = "AbCdEfGhIjKlMnOpQrStUv";

describe("safeTarget", () => {
  it("keeps the path and what shapes a picture", () => {
    expect(safeTarget(`/api/images/${ID}.jpg?resize=100x&convert=low&page=2`)).toBe(
      `/api/images/${ID}.jpg?resize=100x&convert=low&page=2`,
    );
  });

  it("leaves out every other parameter, by its name and value, however it is written", () => {
    for (const query of [`pin=${PIN}`, `%70in=${PIN}`, `PIN=${PIN}`, `api_key=${PIN}`, PIN, `x=${PIN}&pin`]) {
      expect(safeTarget(`/${ID}/edit?${query}`)).toBe(`/${ID}/edit`);
    }
    expect(safeTarget(`/${ID}?resize=${PIN}`)).toBe(`/${ID}`);
  });

  it("takes a secret out of a path into which it strayed", () => {
    expect(safeTarget(`/${ID}/edit%3Fpin=${PIN}`)).toBe(`/${ID}/edit%3Fpin=[redacted]`);
    expect(safeTarget(`/${ID}/edit%3fpin%3d${PIN}`)).toBe(`/${ID}/edit%3fpin=[redacted]`);
    expect(safeTarget(`/${ID}/${PIN}`)).toBe(`/${ID}/[redacted]`);
    expect(safeTarget(`/${ID}/0123-4567-89ab-cdef/x`)).toBe(`/${ID}/[redacted]/x`);
  });

  it("cuts what is longer than anybody reads", () => {
    expect(safeTarget(`/${"a".repeat(5000)}`)).toHaveLength(256);
  });
});

describe("safeHeaders", () => {
  it("keeps only what is known to hold no secret", () => {
    const headers = {
      host: "img.example.com",
      "user-agent": "test/1.0",
      "x-forwarded-proto": "https",
      "x-service-image-pin": PIN,
      authorization: `Bearer ${PIN}`,
      "proxy-authorization": `Basic ${PIN}`,
      "x-api-key": PIN,
      cookie: `session=${PIN}`,
      "x-original-url": `/${ID}/edit?pin=${PIN}`,
      referer: `https://img.example.com/${ID}/edit?pin=${PIN}`,
    };
    expect(safeHeaders(headers)).toEqual({
      host: "img.example.com",
      "user-agent": "test/1.0",
      "x-forwarded-proto": "https",
      referer: `https://img.example.com/${ID}/edit`,
    });
  });
});
