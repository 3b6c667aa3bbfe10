import { describe, expect, it } from "vitest";
import { imageIdOf, imageIdsOf, withHyphenIds } from "./image-ids.ts";

const ID = "-k3fPq0bT1mVxR8aZ2cLd_";

describe("imageIdOf", () => {
  it.each([
    ID,
    `/${ID}`,
    `https://img.example.com/${ID}`,
    `https://img.example.com/img/${ID}/`,
    `https://img.example.com/img/${ID}/view#top`,
    `https://img.example.com/${ID}/edit?pin=0123456789ABCDEF`,
    `https://img.example.com/img/api/images/${ID}.png?resize=100x&page=2`,
    `img/api/images/${ID}.json/`,
    `localhost:3000/${ID}`,
    `${ID}.jpg`,
  ])("extracts the ID from %s", (text) => {
    expect(imageIdOf(text)).toBe(ID);
  });

  it.each([
    "",
    "abc",
    `${ID}x`,
    "https://img.example.com/",
    `https://img.example.com/${ID}/other`,
    `${ID}\n`,
  ])("returns null for %j", (text) => {
    expect(imageIdOf(text)).toBeNull();
  });
});

describe("imageIdsOf", () => {
  it("returns each ID once, in the order of the command line", () => {
    const other = "b".repeat(22);
    expect(imageIdsOf([other, ID, `https://img.example.com/${other}`])).toEqual([other, ID]);
  });

  it("names every argument that is not an image", () => {
    expect(() => imageIdsOf(["one", ID, "two\u001b[2J"])).toThrow(
      /^one: must be .*\ntwo\\u001b\[2J: must be /,
    );
  });
});

describe("withHyphenIds", () => {
  it("turns IDs that begin with a hyphen into addresses, and leaves options unchanged", () => {
    const argv = ["node", "outrigger", "images", "rm", ID, "--yes", "--data", "-x"];
    expect(withHyphenIds(argv)).toEqual([
      "node",
      "outrigger",
      "images",
      "rm",
      `/${ID}`,
      "--yes",
      "--data",
      "-x",
    ]);
    expect(withHyphenIds(["node", "outrigger", "serve", ID])).toEqual(["node", "outrigger", "serve", ID]);
  });
});
