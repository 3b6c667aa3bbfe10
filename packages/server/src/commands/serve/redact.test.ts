import { describe, expect, it } from "vitest";
import { safeHeaders, safeTarget } from "./redact.ts";

const PIN = "0123456789ABCDEF";
const ID = "AbCdEfGhIjKlMnOpQrStUv";

describe("safeTarget", () => {
  it("keeps the path and the parameters of a rendition", () => {
    expect(safeTarget(`/api/images/${ID}.jpg?resize=100x&convert=low&page=2`)).toBe(
      `/api/images/${ID}.jpg?resize=100x&convert=low&page=2`,
    );
  });

  it("keeps the name of a preset and omits a signature", () => {
    expect(safeTarget(`/api/images/${ID}.jpg?preset=small-2&until=5&s=${"a".repeat(43)}`)).toBe(
      `/api/images/${ID}.jpg?preset=small-2`,
    );
    expect(safeTarget(`/api/images/${ID}.jpg?preset=${PIN}`)).toBe(`/api/images/${ID}.jpg`);
  });

  it("omits every other parameter with its name and value, in any encoding", () => {
    for (const query of [`pin=${PIN}`, `%70in=${PIN}`, `PIN=${PIN}`, `api_key=${PIN}`, PIN, `x=${PIN}&pin`]) {
      expect(safeTarget(`/${ID}/edit?${query}`)).toBe(`/${ID}/edit`);
    }
    expect(safeTarget(`/${ID}?resize=${PIN}`)).toBe(`/${ID}`);
  });

  it("redacts a secret in a path", () => {
    expect(safeTarget(`/${ID}/edit%3Fpin=${PIN}`)).toBe(`/${ID}/edit%3Fpin=[redacted]`);
    expect(safeTarget(`/${ID}/edit%3fpin%3d${PIN}`)).toBe(`/${ID}/edit%3fpin=[redacted]`);
    expect(safeTarget("/api/images.json%3Fticket=bm9uY2U")).toBe("/api/images.json%3Fticket=[redacted]");
    expect(safeTarget("/api/images.json?ticket=bm9uY2U")).toBe("/api/images.json");
    expect(safeTarget(`/${ID}/${PIN}`)).toBe(`/${ID}/[redacted]`);
    expect(safeTarget(`/${ID}/0123-4567-89ab-cdef/x`)).toBe(`/${ID}/[redacted]/x`);
  });

  it("redacts the ID of an unfinished upload", () => {
    expect(safeTarget(`/img/api/uploads/${ID}?x=1`)).toBe("/img/api/uploads/[redacted]");
    expect(safeTarget("/api/uploads")).toBe("/api/uploads");
  });

  it("redacts keys and email addresses in a path", () => {
    const key = "79a03413f083b6277f8e0b7d412c7f6a5907f6d8";
    expect(safeTarget(`/v2/account/${key}`)).toBe("/v2/account/[redacted]");
    expect(safeTarget(`/v2/account%3Fapi_key=${key}`)).toBe("/v2/account%3Fapi_key=[redacted]");
    for (const address of [
      "ada@example.com",
      "ada%40example.com",
      "ada%2540example.com",
      "a.d+a@b.example",
    ]) {
      expect(safeTarget(`/v2/email-verifier/${address}/x`)).toBe("/v2/email-verifier/[redacted]/x");
    }
    expect(safeTarget(`/v2/email-verifier?email=ada@example.com&api_key=${key}`)).toBe("/v2/email-verifier");
  });

  it("takes linear time for a long path without separators", () => {
    const before = process.cpuUsage();
    safeTarget(`/@${"a".repeat(200_000)}`);
    // CPU time, because the machine may be busy.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(20_000);
  });

  it("cuts a target at 256 characters", () => {
    expect(safeTarget(`/${"a".repeat(5000)}`)).toHaveLength(256);
  });
});

describe("safeHeaders", () => {
  it("keeps only headers that hold no secret", () => {
    const headers = {
      host: "img.example.com",
      "user-agent": "test/1.0 (ada@example.com)",
      "x-forwarded-proto": "https",
      "x-service-image-pin": PIN,
      authorization: `Bearer ${PIN}`,
      "proxy-authorization": `Basic ${PIN}`,
      "x-api-key": PIN,
      from: "ada@example.com",
      cookie: `session=${PIN}`,
      "x-original-url": `/${ID}/edit?pin=${PIN}`,
      referer: `https://img.example.com/${ID}/edit?pin=${PIN}`,
    };
    expect(safeHeaders(headers, true)).toEqual({
      host: "img.example.com",
      "user-agent": "test/1.0 ([redacted])",
      "x-forwarded-proto": "https",
      referer: `https://img.example.com/${ID}/edit`,
    });
  });
});
