import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { EditView, ImageView, Page, Pages, ProblemView, UploadView } from "@outrigger/core/images";
import type { ConformanceTest } from "./conformance-test.ts";
import { addressesIn, contentsOf, directives, skeleton, textOf } from "./html-lookups.ts";
import { htmlTokens, startTags, valuesOf } from "./html-tokens.ts";
import {
  CREATED,
  EDIT,
  HOSTILE,
  hostileEdit,
  hostileImage,
  hostileProblem,
  hostileUnlock,
  hostileUpload,
  IMAGE,
  NOW,
  ORIGIN,
  PIN,
  PROBLEM,
  UNLOCK,
  UPLOAD,
} from "./page-samples.ts";

/**
 * For each directive that a page needs for its own files: the sources it may name, besides hashes of its own
 * style.
 */
const OWN = {
  "script-src": [`${ORIGIN}/img/assets/`],
  "style-src": [`${ORIGIN}/img/assets/`],
  "connect-src": ["'self'", ORIGIN, `${ORIGIN}/img/`],
  "font-src": ["'self'", ORIGIN, `${ORIGIN}/img/assets/`],
  "form-action": ["'self'", "'none'", ORIGIN, `${ORIGIN}/img/`],
  "manifest-src": ["'self'", "'none'", ORIGIN],
  "worker-src": ["'none'"],
  // `blob:` is a picture that the page's own script has received.
  "img-src": ["'self'", "'none'", "blob:", ORIGIN],
} as const;

/** Tests every page for safety (no value can inject markup, scripts or links) and readability. */
export function pageSafetyContract(test: ConformanceTest, create: () => Pages): void {
  /** Every page, with `text` in every text field of its view. */
  const hostilePages = (text: string) =>
    everyPage(
      hostileImage(text),
      hostileEdit(text),
      hostileProblem(text),
      hostileUnlock(text),
      hostileUpload(text),
    );

  function everyPage(
    image: ImageView = IMAGE,
    edit: EditView = EDIT,
    problem: ProblemView = PROBLEM,
    unlock = UNLOCK,
    upload: UploadView = UPLOAD,
  ): Page[] {
    const pages = create();
    const created = pages.created?.({ ...CREATED, image, pin: edit.pin });
    return [
      ...(created === undefined ? [] : [created]),
      pages.upload({ ...upload, baseUrl: image.baseUrl }, NOW),
      pages.viewer(image, NOW),
      pages.viewer({ ...image, type: "application/pdf", pages: 12, page: 3 }, NOW),
      pages.edit({ ...edit, image }, NOW),
      pages.problem(problem),
      pages.problem({ ...problem, status: 202 }),
      pages.unlock(unlock),
    ];
  }

  test("pages: equal views give equal pages", async () => {
    assert.deepEqual(everyPage(), everyPage());
  });

  test("pages: every page has a title, a language and a viewport for phones", async () => {
    for (const { html } of everyPage()) {
      assert.match(html, /^<!doctype html>/i);
      const tokens = htmlTokens(html);
      assert.ok(startTags(tokens, "html")[0]?.attributes.get("lang"));
      assert.equal(startTags(tokens, "title").length, 1);
      assert.equal(startTags(tokens, "h1").length, 1);
      assert.ok(startTags(tokens, "meta").some(({ attributes }) => attributes.get("name") === "viewport"));
    }
  });

  test("pages: hostile text changes no tag and no attribute, and is shown unchanged", async () => {
    const plain = hostilePages("harmless");
    for (const text of HOSTILE) {
      const pages = hostilePages(text);
      for (const [index, page] of pages.entries()) {
        assert.equal(skeleton(page.html), skeleton(plain[index]?.html ?? ""), `page ${index}, ${text}`);
        if (/[<>]/.test(text)) assert.ok(!page.html.includes(text), `raw ${text} on page ${index}`);
        assert.ok(textOf(htmlTokens(page.html)).includes(text), `${text} is not shown on page ${index}`);
      }
    }
  });

  test("pages: a URL that is not http or https is never a link, a picture or a form action", async () => {
    const schemes = ["data:text/html,<b>", "vbscript:x", " java\nscript:alert(1)"];
    for (const address of [...HOSTILE, ...schemes, "//[", ""]) {
      const links = { png: address, jpg: address, pdf: address };
      const image = { ...IMAGE, baseUrl: address, viewUrl: address, links };
      const problem = { ...PROBLEM, baseUrl: address, authority: address };
      const unlock = { ...UNLOCK, baseUrl: address, viewUrl: address, action: address };
      const upload = { ...UPLOAD, form: { ...UPLOAD.form, action: address } };
      for (const { html } of everyPage(image, { ...EDIT, action: address }, problem, unlock, upload)) {
        for (const value of addressesIn(htmlTokens(html))) {
          const url = new URL(value, ORIGIN);
          assert.ok(url.protocol === "https:" && url.origin === ORIGIN, `${address} became ${value}`);
        }
      }
    }
  });

  test("pages: the Content-Security-Policy allows only the page's own files, style, pictures and forms", async () => {
    for (const { html, contentSecurityPolicy } of everyPage()) {
      const policy = directives(contentSecurityPolicy);
      const closed = ["default-src", "base-uri", "frame-ancestors"];
      for (const name of closed) assert.deepEqual(policy.get(name), ["'none'"], name);
      for (const [name, sources] of policy) {
        if (closed.includes(name)) continue;
        const own: readonly string[] | undefined = Object.entries(OWN).find(([each]) => each === name)?.[1];
        assert.ok(own, `the policy has ${name}`);
        for (const source of sources) {
          const isHash = name === "style-src" && source.startsWith("'sha256-");
          assert.ok(isHash || own.includes(source), `${name} allows ${source}`);
        }
      }
      const tokens = htmlTokens(html);
      for (const tag of tokens) {
        if (tag.kind !== "start") continue;
        for (const name of tag.attributes.keys()) assert.doesNotMatch(name, /^(?:on|style$|srcdoc$)/);
      }
      for (const style of contentsOf(tokens, "style")) {
        const hash = createHash("sha256").update(style).digest("base64");
        assert.ok(policy.get("style-src")?.includes(`'sha256-${hash}'`), "the policy lacks the style's hash");
      }
    }
  });

  test("pages: every script and style sheet is an asset of the pages, and no page contains an inline script", async () => {
    const pages = create();
    for (const { html } of everyPage()) {
      // No browser executes a data block.
      const tokens = htmlTokens(html.replace(/<script type="application\/json"[^>]*>[^<]*<\/script>/g, ""));
      assert.deepEqual(contentsOf(tokens, "script").join("").trim(), "");
      const sheets = startTags(tokens, "link").filter(
        ({ attributes }) => attributes.get("rel") === "stylesheet",
      );
      const files: [string | undefined, RegExp][] = [
        ...valuesOf(tokens, "script", "src").map((src): [string | undefined, RegExp] => [
          src,
          /^text\/javascript/,
        ]),
        ...sheets.map(({ attributes }): [string | undefined, RegExp] => [
          attributes.get("href"),
          /^text\/css/,
        ]),
      ];
      for (const [address = "", type] of files) {
        const [directory, name = ""] = address.split(/(?<=\/assets\/)/);
        assert.equal(directory, `${ORIGIN}/img/assets/`);
        assert.match(pages.asset(name)?.type ?? "", type);
      }
    }
    assert.equal(pages.asset("no-such-file.js"), undefined);
  });

  test("pages: the Content-Security-Policy allows the picture's own host, and no URL can widen it", async () => {
    const elsewhere = { ...IMAGE, links: { png: "https://cdn.example:8443/a/x.png" } };
    const { contentSecurityPolicy } = create().viewer(elsewhere, NOW);
    assert.ok(directives(contentSecurityPolicy).get("img-src")?.includes("https://cdn.example:8443"));

    const widening = "https://a;script-src,'unsafe-inline'/x.png";
    const pages = everyPage({ ...IMAGE, links: { png: widening } }, { ...EDIT, action: widening }, PROBLEM);
    for (const page of pages) {
      assert.doesNotMatch(page.contentSecurityPolicy, /unsafe-inline|[^\x20-\x7e]/);
    }
    for (const path of ["a;script-src,*", "a.example/x;script-src *", "a.example/,*"]) {
      const baseUrl = `https://${path}`;
      for (const page of everyPage({ ...IMAGE, baseUrl }, EDIT, { ...PROBLEM, baseUrl })) {
        assert.doesNotMatch(page.contentSecurityPolicy, /unsafe-inline|\*|script-src[^;]*,|[^\x20-\x7e]/);
      }
    }
  });

  test("pages: pages whose URL may contain the PIN send no Referer, and keep the PIN out of their titles", async () => {
    const pages = create();
    const created = pages.created?.(CREATED) ?? [];
    for (const { html } of [pages.edit(EDIT, NOW), pages.unlock(UNLOCK), created].flat()) {
      const referrer = startTags(htmlTokens(html), "meta").find(
        ({ attributes }) => attributes.get("name") === "referrer",
      );
      assert.equal(referrer?.attributes.get("content"), "no-referrer");
      assert.ok(!contentsOf(htmlTokens(html), "title").join("").includes(PIN));
    }
  });
}
