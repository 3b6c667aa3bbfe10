import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pngPhoto, svgDrawing } from "../support/pictures.ts";
import { addressOf, type Created, postImage, type Site, startSite, upload } from "../support/service.ts";
import { exchange, type RawReply } from "./raw-http.ts";
import { type BodyRow, ODD_BODIES } from "./request-bodies.ts";
import { BAD_PINS, BAD_READ_PARAMETERS, HOSTILE_NAMES } from "./request-values.ts";
import { answerOf, expectProblem } from "./verdict.ts";
import { type Watch, watchSite } from "./watch-site.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

let site: Site;
let watch: Watch;
let image: Created;
const stored: string[] = [];

beforeAll(async () => {
  site = await startSite({ uploadIdleMs: 500 });
  watch = await watchSite(site);
  image = await upload(site, await pngPhoto(30, 20), "image/png");
  stored.push(image.id);
});
afterAll(() => site.close());

function patch(body: string | Buffer, headers: Record<string, string> = JSON_TYPE): Promise<Response> {
  return fetch(addressOf(site, image.id, "json"), {
    method: "PATCH",
    body: new Uint8Array(Buffer.from(body)),
    headers: { "X-Service-Image-Pin": image.pin, ...headers },
  });
}

function get(path: string): Promise<RawReply | null> {
  return exchange(site.origin, Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`, "latin1"));
}

/** Names of a reply's header lines, in order. */
function linesOf(reply: RawReply | null): string[] {
  return (reply?.head ?? "")
    .split("\r\n")
    .slice(1)
    .map((line) => line.slice(0, line.indexOf(":")));
}

/** Printable ASCII, quoted and escaped as in RFC 9110 §5.6.4; then the full name as in RFC 8187. */
const DISPOSITION =
  /^(?:inline|attachment); filename="(?:[ !#-[\]-~]|\\["\\])*"(?:; filename\*=UTF-8''(?:[\w!#$&+.^`|~-]|%[0-9A-F]{2})+)?$/;

describe("hostile image names", () => {
  test.each(HOSTILE_NAMES)(
    "a name of %s is stored as text or refused, and adds no header line",
    async (title, sent, kept) => {
      const plain = linesOf(await get(`/img/api/images/${image.id}.png`));
      const form = await postImage(site, svgDrawing, "image/svg+xml", { name: sent });
      const query = await postImage(
        { base: site.base },
        svgDrawing,
        "image/svg+xml",
        {},
        `json?name=${encodeURIComponent(sent)}`,
      );
      const json = await patch(JSON.stringify({ name: sent }));
      for (const response of [form, query, json]) {
        const answer = await answerOf(response);
        if (kept === null) {
          expectProblem(answer, [400], title);
          continue;
        }
        expect([200, 201], `${title}: ${answer?.body}`).toContain(answer?.status);
        const record = JSON.parse(answer?.body ?? "") as Created;
        if (!stored.includes(record.id)) stored.push(record.id);
        expect(record.name).toBe(kept);
        const suffix = record.id === image.id ? "png" : "svg";
        const reply = await get(`/img/api/images/${record.id}.${suffix}`);
        expect(reply?.status, title).toBe(200);
        expect(linesOf(reply)).toEqual(plain);
        expect(reply?.headers["content-disposition"], title).toMatch(DISPOSITION);
        for (const page of [`${record.id}/view`, `${record.id}/edit?pin=${record.pin ?? image.pin}`]) {
          const html = await (
            await fetch(`${site.base}/${page}`, { headers: { Accept: "text/html" } })
          ).text();
          expect(html, title).not.toMatch(/<script>|<svg onload|=alert\(1\)>(?!.*&)/);
        }
      }
    },
  );

  test("a name with half a surrogate pair is stored without it", async () => {
    expect((await patch(JSON.stringify({ name: "a\ud800b" }))).status).toBe(200);
    expect((await get(`/img/api/images/${image.id}.png`))?.status).toBe(200);
    const record = (await (await fetch(addressOf(site, image.id, "json"))).json()) as Created;
    expect(record.name).toBe("ab");
  });
});

describe("hostile read parameters", () => {
  test("a read parameter with a wrong form or range is refused in the query and in JSON", async () => {
    for (const query of BAD_READ_PARAMETERS) {
      const reply = await get(`/img/api/images/${image.id}.jpg?${query}`);
      expectProblem(await answerOf(reply), [400], query);
      const params = new URLSearchParams(query);
      for (const [name, value] of params) {
        for (const each of [value, [value], { [value]: 1 }]) {
          if (value.includes("\ufffd")) continue;
          const body = JSON.stringify({ [name]: each });
          const head = `GET /img/api/images/${image.id}.jpg HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
          expectProblem(
            await answerOf(await exchange(site.origin, Buffer.from(head + body))),
            [400],
            body.slice(0, 200),
          );
        }
      }
    }
  });

  test("a repeated or unknown read parameter has no harmful effect", async () => {
    for (const query of [
      "resize=10x&resize=9999999x",
      "resize=10x&resize[]=1&resize[a]=b",
      "__proto__[resize]=0x0&constructor=1",
      `${"resize=10x&".repeat(500)}x`,
      `${Array.from({ length: 1500 }, (_, n) => `p${n}=1`).join("&")}`,
      "?".repeat(1000),
      "&=&=&=&",
      "=resize",
    ]) {
      const reply = await get(`/img/api/images/${image.id}.jpg?${query}`);
      expect(reply?.status, query.slice(0, 60)).toBe(200);
    }
  });

  test("unique query strings on reads fill neither disk nor memory", async () => {
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < 300; index++) {
      const reply = await get(`/img/api/images/${image.id}.png?x=${index}${"y".repeat(8000)}`);
      expect(reply?.status).toBe(200);
    }
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
  });
});

describe("hostile bodies of an edit", () => {
  test.each(ODD_BODIES.map((row) => [row.title, row.statuses.join(" or "), row] as const))(
    "an edit with a body of %s answers %s",
    async (title, _statuses, { body, type = "application/json", statuses }: BodyRow) => {
      const answer = await answerOf(await patch(body, { "Content-Type": type }));
      if (answer?.status === 200) expect(statuses, title).toContain(200);
      else expectProblem(answer, statuses, title);
      expect(Object.prototype).not.toHaveProperty("polluted");
      expect(Object.prototype).not.toHaveProperty("name");
    },
  );

  test("a compressed edit body is refused, and a stalled one times out", async () => {
    expectProblem(
      await answerOf(await patch("x", { ...JSON_TYPE, "Content-Encoding": "gzip" })),
      [415],
      "Content-Encoding",
    );
    const head = `PATCH /img/api/images/${image.id}.json HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
    for (const rest of ["Content-Length: 50\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"]) {
      expectProblem(await answerOf(await exchange(site.origin, head + rest)), [408], rest);
    }
  });

  test("the edit page's form has the same limits", async () => {
    const address = `${site.base}/${image.id}/edit`;
    for (const [body, status] of [
      [`pin=${image.pin}&name=%ff`, 400],
      [`pin=${image.pin}&name=${"x".repeat(17 * 1024)}`, 413],
      [`pin=${image.pin}&action=constructor`, 400],
      [`pin=${image.pin}&action=update&expiresIn=99999999999999999999`, 400],
      [`pin=${image.pin}&action=update&name=${"x".repeat(300)}`, 400],
      ["pin[]=x&action=delete&confirm=on", 403],
      ["__proto__[pin]=x&action=delete&confirm=on", 403],
    ] as const) {
      const response = await fetch(address, {
        method: "POST",
        body,
        headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: "text/html" },
      });
      expect([body.slice(0, 60), response.status]).toEqual([body.slice(0, 60), status]);
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(await response.text()).not.toContain("node_modules");
    }
    expect((await fetch(addressOf(site, image.id, "png"))).status).toBe(200);
  });
});

test("a malformed PIN is wrong in header, query and body", async () => {
  for (const pin of BAD_PINS) {
    const inQuery = `${addressOf(site, image.id, "json")}?pin=${encodeURIComponent(pin)}`;
    expectProblem(await answerOf(await fetch(inQuery, { method: "DELETE" })), [403], pin);
  }
  const wide = [...image.pin].map((char) => String.fromCharCode(char.charCodeAt(0) + 0x100)).join("");
  for (const pin of [wide, [image.pin], { pin: image.pin }, 1, true, null, { toString: "x" }]) {
    const response = await fetch(addressOf(site, image.id, "json"), {
      method: "DELETE",
      body: JSON.stringify({ pin }),
      headers: JSON_TYPE,
    });
    expectProblem(await answerOf(response), [403], JSON.stringify(pin));
  }
  expect((await fetch(addressOf(site, image.id, "png"))).status).toBe(200);
});

test("hostile parameters leave no file, no descriptor and no unexpected error behind", async () => {
  await watch.expectUnharmed(stored);
  expect(site.errors).toEqual([]);
});
