import { afterEach, expect, it, vi } from "vitest";
import { imageTargetOf, imageTargetsOf, pinOf } from "./images.ts";

const ID = "Yk3fPq0bT1mVxR8aZ2cLdw";
const OTHER = "-k3fPq0bT1mVxR8aZ2cLdw";
const PIN = "0123456789ABCDEF";
const AT = "https://example.com/img";

afterEach(() => vi.unstubAllEnvs());

it("imageTargetOf accepts any address of an image, or an ID with a service", () => {
  for (const address of [`${AT}/${ID}`, `${AT}/${ID}/view`, `${AT}/api/images/${ID}.json`]) {
    expect(imageTargetOf(address, "http://127.0.0.1:1"), address).toEqual({ baseUrl: AT, id: ID, pin: null });
  }
  expect(imageTargetOf(`${AT}/${ID}/edit?pin=${PIN}`, undefined)).toEqual({ baseUrl: AT, id: ID, pin: PIN });
  expect(imageTargetOf(ID, AT)).toEqual({ baseUrl: AT, id: ID, pin: null });
  expect(imageTargetOf(`/${OTHER}`, AT)).toEqual({ baseUrl: AT, id: OTHER, pin: null });
});

it("imageTargetsOf returns each image once, with the PIN of any of its addresses", () => {
  const texts = [`${AT}/${ID}/edit?pin=${PIN}`, ID, `${AT}/${OTHER}`];
  expect(imageTargetsOf(texts, AT).map(({ id, pin }) => [id, pin])).toEqual([
    [ID, PIN],
    [OTHER, null],
  ]);
});

it("imageTargetOf rejects any other text and names it without its query", () => {
  // Without a scheme the service is ambiguous.
  const wrong = ["photo.jpg", `example.com/${ID}`, `ftp://example.com/${ID}`, `${AT}/edit?pin=${PIN}`];
  expect(() => imageTargetsOf([ID, ...wrong], AT)).toThrow(
    wrong.map((text) => `${text.split("?")[0]}: must be an image's address or its ID`).join("\n"),
  );
  expect(() => imageTargetsOf(wrong, AT)).not.toThrow(PIN);
});

it("pinOf prefers the PIN of the address, then the typed one, then the environment", () => {
  const bare = { baseUrl: AT, id: ID, pin: null };
  expect(() => pinOf(bare, undefined)).toThrow(`${ID}: needs its PIN`);
  vi.stubEnv("OUTRIGGER_PIN", "EEEEEEEEEEEEEEEE");
  expect(pinOf(bare, undefined)).toBe("EEEEEEEEEEEEEEEE");
  expect(pinOf(bare, "tttt-tttt-tttt-tttt")).toBe("tttt-tttt-tttt-tttt");
  expect(pinOf({ ...bare, pin: PIN }, "tttttttttttttttt")).toBe(PIN);
  const copied = "\u00a0tttt\u2013tttt tttt\u200btttt\n";
  expect(pinOf(bare, copied)).toBe(copied);
  expect(() => pinOf(bare, "hush")).toThrow(`${ID}: needs its PIN (16 letters and digits)`);
});
