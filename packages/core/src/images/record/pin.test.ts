import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Pins } from "./pin.ts";

const secret = "0123456789abcdef0123456789abcdef";
const id = "AAAAAAAAAAAAAAAAAAAAAA";

describe("PINs", () => {
  test("a PIN is the first 80 bits of HMAC-SHA256(secret, id) in Crockford base 32", () => {
    const pin = new Pins(secret).pinOf(id);
    expect(pin).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/);
    const bits = [...pin]
      .map((c) => "0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(c).toString(2).padStart(5, "0"))
      .join("");
    const bytes = bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [];
    expect(Buffer.from(bytes)).toEqual(createHmac("sha256", secret).update(id).digest().subarray(0, 10));
  });

  test("a PIN verifies for its own image only", () => {
    const pins = new Pins(secret);
    const pin = pins.pinOf(id);
    expect(pins.verify(id, pin)).toBe(true);
    expect(pins.verify("BAAAAAAAAAAAAAAAAAAAAA", pin)).toBe(false);
    const farBeyond = [...pin].map((c) => String.fromCharCode(c.charCodeAt(0) + 0x100)).join("");
    for (const wrong of ["", pin.slice(1), `${pin}0`, `${pin}_`, "0".repeat(16), "é".repeat(16), farBeyond]) {
      expect(pins.verify(id, wrong)).toBe(false);
    }
  });

  test("case, hyphens and look-alike characters of a PIN do not matter", () => {
    const pins = new Pins(secret);
    const pin = pins.pinOf(id);
    expect(pins.verify(id, pin.toLowerCase())).toBe(true);
    expect(pins.verify(id, pin.replace(/(....)(?=.)/g, "$1-"))).toBe(true);
    expect(pins.verify(id, pin.replaceAll("0", "o").replaceAll("1", "l"))).toBe(true);
  });

  test("white space, dashes and invisible characters in a PIN do not matter, in at most 1024 characters", () => {
    const pins = new Pins(secret);
    const pin = pins.pinOf(id);
    const copied =
      " \t\r\n\v\f\u0085\u00a0\u1680\u2000\u2003\u2007\u2009\u200a\u2028\u2029\u202f\u205f\u3000" +
      "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2064\u2066\u2069\ufe00\ufe0f\ufeff\u{e0100}" +
      "-\u058a\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e3a\u30fc\ufe58\ufe63\uff0d";
    for (const character of copied)
      expect(pins.verify(id, [...pin, ""].join(character)), character.codePointAt(0)?.toString(16)).toBe(
        true,
      );
    expect(pins.verify(id, pin + copied)).toBe(true);
    for (const visible of "_.,:;'\"*~+/|·•\u0301")
      expect(pins.verify(id, pin.slice(0, 8) + visible + pin.slice(8)), visible).toBe(false);
    expect(pins.verify(id, pin + " ".repeat(1024 - pin.length))).toBe(true);
    expect(pins.verify(id, pin + " ".repeat(1025 - pin.length))).toBe(false);
  });

  test("after a rotation old PINs stay valid, and new ones come from the first secret", () => {
    const old = new Pins(secret).pinOf(id);
    const fresh = "f".repeat(32);
    const pins = new Pins([fresh, secret]);
    expect(pins.pinOf(id)).toBe(new Pins(fresh).pinOf(id));
    expect(pins.verify(id, old)).toBe(true);
    expect(new Pins(fresh).verify(id, old)).toBe(false);
  });

  test("Pins throws for a secret of fewer than 32 bytes", () => {
    expect(() => new Pins("short")).toThrow(TypeError);
    expect(() => new Pins([])).toThrow(TypeError);
    expect(() => new Pins([secret, "short"])).toThrow(TypeError);
  });
});
