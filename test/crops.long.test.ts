import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressOf, bytesOf, type Created, type Site, startSite } from "./support/service.ts";

const LOGO = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><path fill="#f0f" d="M0 0h20v10H0z"/></svg>',
);

let site: Site;
/** 90 × 30: a third red, a third green, a third blue. */
let stripes: Buffer;

beforeAll(async () => {
  const watermark = { image: LOGO, at: "center", width: 0.5 } as const;
  site = await startSite({
    presets: {
      avatar: { resize: "30x30", fit: "cover", at: [1, 0.5] },
      turned: { rotate: 90, watermark },
    },
  });
  const colours = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
  ];
  const row = Buffer.from(colours.flatMap((colour) => Array.from({ length: 30 }, () => colour).flat()));
  stripes = await sharp(Buffer.concat(Array.from({ length: 30 }, () => row)), {
    raw: { width: 90, height: 30, channels: 3 },
  })
    .png()
    .toBuffer();
});
afterAll(() => site.close());

async function create(fields: Record<string, string>, suffix = "json", query = ""): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("imagedata", new Blob([new Uint8Array(stripes)], { type: "image/png" }), "stripes.png");
  return fetch(`${site.base}/api/images.${suffix}${query}`, {
    method: "POST",
    body: form,
    headers: { "User-Agent": "OutriggerTest/1.0" },
  });
}

const created = async (fields: Record<string, string> = {}) =>
  (await (await create(fields)).json()) as Created;

async function patch({ id, pin }: Created, body: string, type = "application/json"): Promise<Response> {
  const headers = { "Content-Type": type, "X-Service-Image-Pin": pin };
  return fetch(addressOf(site, id, "json"), { method: "PATCH", headers, body });
}

/** The colour in the middle of a picture, and its size. */
async function seen(id: string, query: string, format = "png") {
  const { response, bytes } = await bytesOf(`${addressOf(site, id, format)}?${query}`);
  expect([query, response.status]).toEqual([query, 200]);
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const middle = 3 * (Math.floor(info.height / 2) * info.width + Math.floor(info.width / 2));
  const { etag, "last-modified": modified } = Object.fromEntries(response.headers);
  return {
    colour: ["red", "green", "blue"][data.subarray(middle, middle + 3).indexOf(255)],
    size: `${info.width}x${info.height}`,
    etag,
    modified,
  };
}

const COVER = "resize=30x30&fit=cover";

describe("focus", () => {
  test.each(["json", "txt"])("POST to .%s takes it from the form or the query", async (suffix) => {
    const replies = [await create({ focus: "0.1,0.5" }, suffix), await create({}, suffix, "?focus=.1,.5")];
    for (const reply of replies) {
      expect(reply.status).toBe(201);
      const id = reply.headers.get("x-service-image-id") ?? "";
      expect(await (await fetch(addressOf(site, id, "json"))).json()).toMatchObject({ focus: [0.1, 0.5] });
      expect(await seen(id, COVER)).toMatchObject({ colour: "red", size: "30x30" });
    }
    for (const focus of ["0.1", "1.1,0", "x,y", "attention"]) {
      expect((await create({ focus }, suffix)).status).toBe(400);
    }
  });

  test("PATCH changes what a cut shows with the next request, and null or an empty value removes it", async () => {
    const image = await created({ focus: "" });
    expect(image.focus).toBeNull();
    const steps: [body: string, type: string, focus: unknown, colour: string][] = [
      ['{"focus":[0,0.123456]}', "application/json", [0, 0.1235], "red"],
      ["focus=1%2C0", "application/x-www-form-urlencoded", [1, 0], "blue"],
      ['{"focus":null}', "application/json", null, "green"],
      ['{"focus":"0,0","name":"both"}', "application/json", [0, 0], "red"],
      ["focus=", "application/x-www-form-urlencoded", null, "green"],
    ];
    let before = await seen(image.id, COVER);
    expect(before.colour).toBe("green");
    const fixed = await seen(image.id, `${COVER}&at=0,0`);
    for (const [body, type, focus, colour] of steps) {
      const reply = await patch(image, body, type);
      expect([body, reply.status, await reply.json()]).toMatchObject([body, 200, { focus }]);
      const now = await seen(image.id, COVER);
      expect([body, now.colour]).toEqual([body, colour]);
      expect(now.etag).not.toBe(before.etag);
      const stale = { headers: { "If-None-Match": before.etag ?? "" } };
      expect((await fetch(`${addressOf(site, image.id, "png")}?${COVER}`, stale)).status).toBe(200);
      expect(await seen(image.id, `${COVER}&at=0,0`)).toEqual(fixed);
      before = now;
    }
  });
  test("is set and changed in code", async () => {
    const { id } = await site.images.add(stripes, { focus: [0, 0.5] });
    expect((await site.images.find(id)).focus).toEqual([0, 0.5]);
    expect((await seen(id, COVER)).colour).toBe("red");
    expect((await site.images.edit(id, { focus: [1, 0.5] })).focus).toEqual([1, 0.5]);
    expect((await seen(id, COVER)).colour).toBe("blue");
    expect((await site.images.edit(id, { focus: null })).focus).toBeNull();
    const opened = await site.images.open(id, { format: "png", resize: "30x30", fit: "cover", at: [0, 0] });
    const etag = (await seen(id, `${COVER}&at=0,0`)).etag;
    expect(opened.etag).toBe(etag);
    opened.body.destroy();
  });
});

describe("a request for a crop", () => {
  test("gives one rendition for all values with the same result", async () => {
    const { id } = await created();
    const tags = async (queries: string[]) =>
      new Set(await Promise.all(queries.map(async (query) => (await seen(id, query)).etag)));
    const left = ["at=0,0", "at=0,1", "at=0.01,0.5", "at=.1,.9", "at=0,0&background=ff0000"];
    expect((await tags(left.map((each) => `${COVER}&${each}`))).size).toBe(1);
    expect((await tags([COVER, `${COVER}&at=0.5,0`, "resize=400x400&fit=cover"])).size).toBe(1);
    const whole = ["resize=45x15", "resize=45x15&fit=cover", "resize=45x15&fit=pad", "resize=45x&page=1"];
    expect((await tags(whole)).size).toBe(1);
    expect((await tags([COVER, `${COVER}&at=0,0`, `${COVER}&at=entropy`, "resize=30x30"])).size).toBe(4);
  });

  test("is taken from a JSON body, from a preset and from a signed address", async () => {
    const { id } = await created();
    const right = await seen(id, `${COVER}&at=1,0.5`);
    expect(right.colour).toBe("blue");
    expect(await seen(id, "preset=avatar")).toEqual(right);
    const rendition = { format: "png", resize: "30x30", fit: "cover", at: [1, 0.5] } as const;
    const address = await site.images.address(id, rendition, { signed: true });
    const search = address.slice(address.indexOf("?") + 1);
    expect(await seen(id, search)).toEqual(right);
    const moved = `${addressOf(site, id, "png")}?${search.replace("at=1", "at=0")}`;
    expect((await fetch(moved)).status).toBe(403);
    expect((await fetch(`${addressOf(site, id, "png")}?preset=avatar&fit=pad`)).status).toBe(400);
  });
});

test("a preset turns and marks the picture in its own format, and the bare address keeps the original", async () => {
  const { id } = await created();
  const address = `${addressOf(site, id, "png")}?preset=turned`;
  const { bytes, response } = await bytesOf(address);
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  expect([info.width, info.height]).toEqual([30, 90]);
  const pixelAt = (row: number) => [...data.subarray(3 * (row * 30 + 15), 3 * (row * 30 + 15) + 3)];
  const [red, magenta, blue] = [
    [255, 0, 0],
    [255, 0, 255],
    [0, 0, 255],
  ];
  expect([5, 45, 85].map(pixelAt)).toEqual([red, magenta, blue]);
  const etag = String(response.headers.get("etag"));
  expect(etag).toMatch(/\.png-90x30-e[0-9a-f]{16}\./);
  const head = await fetch(address, { method: "HEAD" });
  expect([head.headers.get("content-length"), head.headers.get("etag")]).toEqual([`${bytes.length}`, etag]);
  expect((await fetch(address, { headers: { "If-None-Match": etag } })).status).toBe(304);
  expect((await bytesOf(addressOf(site, id, "png"))).bytes.equals(stripes)).toBe(true);
});
