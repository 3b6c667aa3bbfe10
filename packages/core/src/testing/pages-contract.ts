import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { EditView, ImageView, Page, Pages, ProblemView } from "../contracts/pages.ts";
import type { ImageFormat } from "../contracts/renderer.ts";
import type { ConformanceTest } from "./conformance-test.ts";
import { type HtmlToken, htmlTokens, type StartTag, startTags } from "./html-tokens.ts";

const NOW = Date.parse("2025-11-20T12:00:00.000Z");
const PIN = "Q7ZK2M4X9T3B8V5N";
const ORIGIN = "https://images.example";
const FORMATS: readonly ImageFormat[] = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];

/** What would do harm if it were taken for markup, for an attribute's end, or for an address. */
const HOSTILE = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "'><svg onload=alert(1)>",
  "</title></style></textarea><b>",
  "javascript:alert(1)",
  "` onmouseover=alert(1) x=`",
  "<!-- --!><i>",
  "&lt;script&gt;&amp;quot;",
  "\u202e{{7*7}}#{7*7}<%= 7*7 %>\u0000\r\n",
];

const IMAGE: ImageView = {
  id: "Vb3kq0ZsTmWc9aYh2nLxeg",
  name: "Harbour.png",
  type: "image/png",
  size: 412_345,
  width: 1600,
  height: 900,
  pages: 1,
  agent: { name: "Shutter", version: "2.14.1" },
  createdAt: "2025-11-20T11:00:00.000Z",
  expiresAt: "2025-11-21T11:00:00.000Z",
  viewUrl: `${ORIGIN}/img/Vb3kq0ZsTmWc9aYh2nLxeg/view`,
  links: links(FORMATS),
};

const EDIT: EditView = {
  image: IMAGE,
  action: "/img/Vb3kq0ZsTmWc9aYh2nLxeg/edit",
  pin: PIN,
  notice: "Saved.",
  problem: "Refused.",
};

const PROBLEM: ProblemView = { status: 410, title: "Gone", detail: "This image has expired." };

/** Proves that `create` makes a {@link Pages} as the contract wants it. `test` is the runner's own function. */
export function pagesContract(test: ConformanceTest, create: () => Pages): void {
  function everyPage(image: ImageView, edit: EditView, problem: ProblemView): Page[] {
    const pages = create();
    return [pages.viewer(image, NOW), pages.edit({ ...edit, image }, NOW), pages.problem(problem)];
  }

  test("pages: the same view gives the same page", async () => {
    assert.deepEqual(everyPage(IMAGE, EDIT, PROBLEM), everyPage(IMAGE, EDIT, PROBLEM));
  });

  test("pages: every page is a titled document in a named language, fit for phones", async () => {
    for (const { html } of everyPage(IMAGE, EDIT, PROBLEM)) {
      assert.match(html, /^<!doctype html>/i);
      const tokens = htmlTokens(html);
      assert.ok(startTags(tokens, "html")[0]?.attributes.get("lang"));
      assert.equal(startTags(tokens, "title").length, 1);
      assert.equal(startTags(tokens, "h1").length, 1);
      assert.ok(startTags(tokens, "meta").some(({ attributes }) => attributes.get("name") === "viewport"));
    }
  });

  test("pages: hostile text changes no tag and no attribute, and is shown as it is", async () => {
    const plain = everyPage(hostileImage("harmless"), hostileEdit("harmless"), hostileProblem("harmless"));
    for (const text of HOSTILE) {
      const pages = everyPage(hostileImage(text), hostileEdit(text), hostileProblem(text));
      for (const [index, page] of pages.entries()) {
        assert.equal(skeleton(page.html), skeleton(plain[index]?.html ?? ""), `page ${index}, ${text}`);
        if (/[<>]/.test(text)) assert.ok(!page.html.includes(text), `raw ${text} on page ${index}`);
        assert.ok(textOf(htmlTokens(page.html)).includes(text), `${text} is not shown on page ${index}`);
      }
    }
  });

  test("pages: an address that is not one of the web is never a link, a picture or a target", async () => {
    for (const address of [
      ...HOSTILE,
      "data:text/html,<b>",
      "vbscript:x",
      " java\nscript:alert(1)",
      "//[",
      "",
    ]) {
      const image = { ...IMAGE, viewUrl: address, links: { png: address, jpg: address, pdf: address } };
      for (const { html } of everyPage(image, { ...EDIT, action: address }, PROBLEM)) {
        for (const value of addressesIn(htmlTokens(html))) {
          const url = new URL(value, ORIGIN);
          assert.ok(url.protocol === "https:" && url.origin === ORIGIN, `${address} became ${value}`);
        }
      }
    }
  });

  test("pages: the policy forbids all but the page's own style, its picture and its form", async () => {
    for (const { html, contentSecurityPolicy } of everyPage(IMAGE, EDIT, PROBLEM)) {
      const policy = directives(contentSecurityPolicy);
      assert.deepEqual(policy.get("default-src"), ["'none'"]);
      assert.deepEqual(policy.get("base-uri"), ["'none'"]);
      assert.deepEqual(policy.get("frame-ancestors"), ["'none'"]);
      assert.doesNotMatch(contentSecurityPolicy, /unsafe-|\*|data:|script-src/);
      const tokens = htmlTokens(html);
      assert.equal(startTags(tokens, "script").length, 0);
      for (const tag of tokens) {
        if (tag.kind !== "start") continue;
        for (const name of tag.attributes.keys()) assert.doesNotMatch(name, /^(?:on|style$|srcdoc$)/);
      }
      for (const style of contentsOf(tokens, "style")) {
        const hash = createHash("sha256").update(style).digest("base64");
        assert.ok(policy.get("style-src")?.includes(`'sha256-${hash}'`), "style is not of the policy's hash");
      }
    }
  });

  test("pages: the policy lets the picture load from its own host, and no address can widen it", async () => {
    const elsewhere = { ...IMAGE, links: { png: "https://cdn.example:8443/a/x.png" } };
    const { contentSecurityPolicy } = create().viewer(elsewhere, NOW);
    assert.ok(directives(contentSecurityPolicy).get("img-src")?.includes("https://cdn.example:8443"));

    const widening = "https://a;script-src,'unsafe-inline'/x.png";
    const pages = everyPage({ ...IMAGE, links: { png: widening } }, { ...EDIT, action: widening }, PROBLEM);
    for (const page of pages) {
      assert.doesNotMatch(page.contentSecurityPolicy, /script-src|unsafe-inline|[^\x20-\x7e]/);
    }
  });

  test("viewer: shows the picture with its name and size, leading to it at full size", async () => {
    const tokens = htmlTokens(create().viewer(IMAGE, NOW).html);
    const [picture] = startTags(tokens, "img");
    assert.equal(picture?.attributes.get("src"), IMAGE.links.png);
    assert.equal(picture?.attributes.get("alt"), IMAGE.name);
    assert.equal(picture?.attributes.get("width"), "1600");
    assert.equal(picture?.attributes.get("height"), "900");
    assert.ok(startTags(tokens, "a").some(({ attributes }) => attributes.get("href") === IMAGE.links.png));
    assert.equal(startTags(tokens, "time").at(-1)?.attributes.get("datetime"), IMAGE.expiresAt);
  });

  test("viewer: offers exactly the formats that have a link", async () => {
    for (const format of FORMATS) {
      const only = { ...IMAGE, links: links([format]) };
      const all = addressesIn(htmlTokens(create().viewer(only, NOW).html));
      const formats = all.map((address) => /\/api\/images\/[^.]+\.(\w+)/.exec(address)?.[1]);
      assert.deepEqual([...new Set(formats.filter((found) => found !== undefined))], [format]);
    }
  });

  test("viewer: leaves out what it does not know", async () => {
    const bare = { ...IMAGE, width: null, height: null, pages: null, agent: null, links: {} };
    const text = textOf(htmlTokens(create().viewer(bare, NOW).html));
    assert.doesNotMatch(text, /null|undefined|NaN/);
    assert.ok(text.includes(bare.name));
  });

  test("edit: two forms post what the service reads", async () => {
    const tokens = htmlTokens(create().edit(EDIT, NOW).html);
    const [update, remove, ...others] = forms(tokens);
    assert.equal(others.length, 0);
    for (const form of [update, remove]) {
      assert.equal(form?.tag.attributes.get("method"), "post");
      assert.equal(form?.tag.attributes.get("action"), EDIT.action);
      assert.equal(
        form?.tag.attributes.get("enctype") ?? "application/x-www-form-urlencoded",
        "application/x-www-form-urlencoded",
      );
      assert.equal(form?.fields.get("pin")?.get("value"), PIN);
      assert.equal(form?.fields.get("pin")?.get("type"), "hidden");
    }
    assert.deepEqual([...(update?.fields.keys() ?? [])].sort(), [
      "action",
      "expiresAt",
      "expiresIn",
      "name",
      "pin",
    ]);
    assert.equal(update?.fields.get("action")?.get("value"), "update");
    assert.equal(update?.fields.get("name")?.get("value"), IMAGE.name);
    assert.equal(update?.fields.get("name")?.get("maxlength"), "255");
    assert.deepEqual([...(remove?.fields.keys() ?? [])].sort(), ["action", "confirm", "pin"]);
    assert.equal(remove?.fields.get("action")?.get("value"), "delete");
    assert.equal(remove?.fields.get("confirm")?.get("type"), "checkbox");
    assert.ok(remove?.fields.get("confirm")?.has("required"));
  });

  test("edit: says what was done and what was refused where screen readers hear it, only when there is something", async () => {
    const tokens = htmlTokens(create().edit(EDIT, NOW).html);
    assert.equal(contentOfRole(tokens, "status"), EDIT.notice);
    assert.equal(contentOfRole(tokens, "alert"), EDIT.problem);
    const quiet = htmlTokens(create().edit({ image: IMAGE, action: EDIT.action, pin: PIN }, NOW).html);
    assert.equal(contentOfRole(quiet, "status"), null);
    assert.equal(contentOfRole(quiet, "alert"), null);
  });

  test("edit: the PIN stands in hidden fields and nowhere else", async () => {
    const { html, contentSecurityPolicy } = create().edit(EDIT, NOW);
    const hidden = startTags(htmlTokens(html), "input").filter(
      ({ attributes }) => attributes.get("type") === "hidden" && attributes.get("value") === PIN,
    );
    assert.equal(html.split(PIN).length - 1, hidden.length);
    assert.ok(!contentSecurityPolicy.includes(PIN));
  });

  test("problem: shows the status, the title and the detail", async () => {
    const text = textOf(htmlTokens(create().problem(PROBLEM).html));
    for (const part of ["410", PROBLEM.title, PROBLEM.detail]) assert.ok(text.includes(part));
  });
}

function links(formats: readonly ImageFormat[]): Partial<Record<ImageFormat, string>> {
  return Object.fromEntries(
    formats.map((format) => [format, `${ORIGIN}/img/api/images/Vb3kq0ZsTmWc9aYh2nLxeg.${format}`]),
  );
}

function hostileImage(text: string): ImageView {
  const agent = { name: text, version: text };
  return { ...IMAGE, id: text, name: text, type: text, agent, createdAt: text, expiresAt: text };
}

function hostileEdit(text: string): EditView {
  return { ...EDIT, pin: text, notice: text, problem: text };
}

function hostileProblem(text: string): ProblemView {
  return { status: 410, title: text, detail: text };
}

/** Tags and attribute names in their order: what a browser would build. */
function skeleton(html: string): string {
  const tags = htmlTokens(html).filter((token) => token.kind !== "text");
  return tags
    .map((tag) => (tag.kind === "end" ? `/${tag.name}` : [tag.name, ...tag.attributes.keys()].join(" ")))
    .join("\n");
}

function textOf(tokens: readonly HtmlToken[]): string {
  return tokens.map((token) => (token.kind === "text" ? token.text : "")).join("");
}

function addressesIn(tokens: readonly HtmlToken[]): string[] {
  const names = ["href", "src", "srcset", "action", "formaction", "poster", "data"];
  const tags = tokens.filter((token): token is StartTag => token.kind === "start");
  return tags.flatMap(({ attributes }) => names.flatMap((name) => attributes.get(name) ?? []));
}

function directives(policy: string): Map<string, string[]> {
  return new Map(
    policy.split(";").map((directive) => {
      const [name = "", ...values] = directive.trim().split(/\s+/);
      return [name, values];
    }),
  );
}

function contentsOf(tokens: readonly HtmlToken[], name: string): string[] {
  return tokens.flatMap((token, index) => {
    const next = tokens[index + 1];
    return token.kind === "start" && token.name === name && next?.kind === "text" ? [next.text] : [];
  });
}

function contentOfRole(tokens: readonly HtmlToken[], role: string): string | null {
  const index = tokens.findIndex((token) => token.kind === "start" && token.attributes.get("role") === role);
  const next = tokens[index + 1];
  return index !== -1 && next?.kind === "text" ? next.text : null;
}

function forms(
  tokens: readonly HtmlToken[],
): { tag: StartTag; fields: Map<string, ReadonlyMap<string, string>> }[] {
  return tokens.flatMap((tag, index) => {
    if (tag.kind !== "start" || tag.name !== "form") return [];
    const end = tokens.findIndex((token, at) => at > index && token.kind === "end" && token.name === "form");
    const controls = tokens.slice(index, end).filter((token): token is StartTag => token.kind === "start");
    const named = controls.flatMap(({ attributes }) => {
      const name = attributes.get("name");
      return name === undefined ? [] : [[name, attributes] as const];
    });
    return [{ tag, fields: new Map(named) }];
  });
}
