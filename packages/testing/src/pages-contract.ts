import assert from "node:assert/strict";
import type { EditView, ImageView, Pages } from "@outrigger/core/images";
import type { ConformanceTest } from "./conformance-test.ts";
import { addressesIn, contentOfId, contentOfRole, directives, forms, textOf } from "./html-lookups.ts";
import { type HtmlToken, htmlTokens, startTags, valuesOf } from "./html-tokens.ts";
import { pageSafetyContract } from "./page-safety-contract.ts";
import { CREATED, EDIT, FORMATS, IMAGE, linksOf, NOW, PIN, PROBLEM, UNLOCK, UPLOAD } from "./page-samples.ts";

const URLENCODED = "application/x-www-form-urlencoded";

/** The pictures with a text. Others are decoration, such as a mark beside the name of the site. */
function picturesIn(tokens: readonly HtmlToken[]) {
  return startTags(tokens, "img").filter(({ attributes }) => attributes.get("alt") !== "");
}

/**
 * Tests that `create` returns {@link Pages} that fulfil the contract. `test` is the runner's own function.
 */
export function pagesContract(test: ConformanceTest, create: () => Pages): void {
  pageSafetyContract(test, create);

  test("viewer: the page shows the picture with its name and size, linked to the full size", async () => {
    const tokens = htmlTokens(create().viewer(IMAGE, NOW).html);
    const [picture = assert.fail()] = picturesIn(tokens);
    const { src, alt, width, height } = Object.fromEntries(picture.attributes);
    assert.deepEqual([src, alt, width, height], [IMAGE.links.png, IMAGE.name, "1600", "900"]);
    assert.ok(valuesOf(tokens, "a", "href").includes(IMAGE.links.png));
    assert.equal(valuesOf(tokens, "time", "datetime").at(-1), IMAGE.expiresAt);
  });

  test("viewer: the page shows the requested page of a document, and links to the previous and next pages", async () => {
    const document = { ...IMAGE, type: "application/pdf", pages: 12 };
    for (const [page, previous, next] of [
      [1, null, "2"],
      [3, "2", "4"],
      [12, "11", null],
    ] as const) {
      const tokens = htmlTokens(create().viewer({ ...document, page }, NOW).html);
      const related = (rel: string) => {
        const link = startTags(tokens, "a").find(({ attributes }) => attributes.get("rel") === rel);
        const href = link?.attributes.get("href");
        return href === undefined ? null : new URL(href).searchParams.get("page");
      };
      assert.deepEqual([related("prev"), related("next")], [previous, next]);
      const picture = new URL(picturesIn(tokens)[0]?.attributes.get("src") ?? "");
      assert.equal(picture.searchParams.get("page") ?? "1", String(page));
    }
  });

  test("viewer: the page links exactly the formats in links", async () => {
    for (const format of FORMATS) {
      const only = { ...IMAGE, links: linksOf([format]) };
      const all = addressesIn(htmlTokens(create().viewer(only, NOW).html));
      const formats = all.map((address) => /\/api\/images\/[^.]+\.(\w+)/.exec(address)?.[1]);
      assert.deepEqual([...new Set(formats.filter((found) => found !== undefined))], [format]);
    }
  });

  test("viewer, edit: a URL with added parameters is signed if the view has sign", async () => {
    const sign = (address: string) => `${address}&s=signed`;
    for (const [type, page] of [
      ["image/jpeg", 1],
      ["application/pdf", 3],
    ] as const) {
      const image = { ...IMAGE, type, width: 6000, height: 4000, pages: 12, page, sign };
      const pages = [create().viewer(image, NOW), create().edit({ ...EDIT, image }, NOW)];
      for (const { html } of pages) {
        const addresses = addressesIn(htmlTokens(html)).flatMap((each) => each.split(/(?: \d+w)?(?:, |$)/));
        const pictures = addresses.filter((each) => each.includes("/api/images/"));
        assert.ok(pictures.length > 0);
        for (const address of pictures) {
          const { search } = new URL(address);
          assert.ok(search === "" || search.endsWith("&s=signed"), address);
        }
      }
    }
  });

  test("viewer: the page omits unknown facts", async () => {
    const bare = { ...IMAGE, width: null, height: null, pages: null, agent: null, links: {} };
    const text = textOf(htmlTokens(create().viewer(bare, NOW).html));
    assert.doesNotMatch(text, /null|undefined|NaN/);
    assert.ok(text.includes(bare.name));
  });

  test("viewer: the alternative text of the picture is its description, else its name", async () => {
    const alternatives = (description: string | null) =>
      valuesOf(htmlTokens(create().viewer({ ...IMAGE, description }, NOW).html), "img", "alt").filter(
        Boolean,
      );
    assert.deepEqual(alternatives("Two boats at dusk."), ["Two boats at dusk."]);
    assert.deepEqual(alternatives(null), [IMAGE.name]);
  });

  test("edit: the two forms post the fields that the service reads", async () => {
    const image = { ...IMAGE, description: "Two boats at dusk." };
    const tokens = htmlTokens(create().edit({ ...EDIT, image }, NOW).html);
    const [update, remove, ...others] = forms(tokens);
    assert.equal(others.length, 0);
    for (const form of [update, remove]) {
      const { method, action, enctype = URLENCODED } = Object.fromEntries(form?.tag.attributes ?? []);
      assert.deepEqual([method, action, enctype], ["post", EDIT.action, URLENCODED]);
      assert.equal(form?.fields.get("pin")?.get("value"), PIN);
      assert.equal(form?.fields.get("pin")?.get("type"), "hidden");
    }
    const dates = ["expiresAt", "expiresIn", "expiry"];
    const names = ["action", "description", ...dates, "focusX", "focusY", "name", "pin", "utcOffset"];
    assert.deepEqual([...(update?.fields.keys() ?? [])].sort(), names);
    assert.equal(update?.fields.get("action")?.get("value"), "update");
    assert.equal(update?.fields.get("name")?.get("value"), IMAGE.name);
    assert.equal(update?.fields.get("name")?.get("maxlength"), "255");
    assert.equal(update?.fields.get("description")?.get("value"), image.description);
    assert.deepEqual([...(remove?.fields.keys() ?? [])].sort(), ["action", "confirm", "pin"]);
    assert.equal(remove?.fields.get("action")?.get("value"), "delete");
    assert.equal(remove?.fields.get("confirm")?.get("type"), "checkbox");
    assert.ok(remove?.fields.get("confirm")?.has("required"));
  });

  test("viewer, edit, created: an image without an expiry is shown without a date of one", async () => {
    const image = { ...IMAGE, expiresAt: null, maxLifetimeMs: null };
    const pages = create();
    const shown = [pages.viewer(image, NOW), pages.edit({ ...EDIT, image }, NOW)];
    for (const page of [...shown, pages.created?.({ ...CREATED, image })]) {
      const html = page?.html ?? "";
      const dates = valuesOf(htmlTokens(html), "time", "datetime");
      assert.ok(dates.every((date) => date === IMAGE.createdAt));
      assert.doesNotMatch(html, /Invalid Date|1970/);
    }
  });

  test("edit, upload: a service without a longest lifetime offers to keep an image for ever", async () => {
    const choices = (html: string, tag: string) => valuesOf(htmlTokens(html), tag, "value");
    for (const maxLifetimeMs of [null, IMAGE.maxLifetimeMs]) {
      const { html } = create().edit({ ...EDIT, image: { ...IMAGE, maxLifetimeMs } }, NOW);
      assert.equal(choices(html, "input").includes("never"), maxLifetimeMs === null);
      if (create().created === undefined) continue;
      const form = create().upload({ ...UPLOAD, maxLifetimeMs }, NOW).html;
      assert.equal(choices(form, "option").includes("never"), maxLifetimeMs === null);
    }
  });

  test("edit: a rejected form keeps what was sent, and ties each message to its field", async () => {
    const dates = {
      expiry: "on",
      expiresIn: "",
      expiresAt: "2025-11-01T10:00",
      utcOffset: "+09:00",
    } as const;
    const typed = { name: "Typed", description: "Text", ...dates, focusX: "110", focusY: "20" };
    const faults = {
      name: "A name.",
      description: "A text.",
      expiresAt: "A date.",
      focusX: "A number.",
      confirm: "A box.",
    };
    const view: EditView = { ...EDIT, typed, faults };
    const tokens = htmlTokens(create().edit(view, NOW).html);
    const [update, remove] = forms(tokens);
    for (const name of ["name", "description", "expiresAt", "utcOffset", "focusX", "focusY"] as const) {
      assert.equal(update?.fields.get(name)?.get("value"), typed[name]);
    }
    const chosen = startTags(tokens, "input").flatMap(({ attributes }) =>
      attributes.get("name") === "expiry" && attributes.has("checked") ? [attributes.get("value")] : [],
    );
    assert.deepEqual(chosen, ["on"]);
    for (const [name, fault] of Object.entries(faults)) {
      const field = update?.fields.get(name) ?? remove?.fields.get(name);
      assert.equal(field?.get("aria-invalid"), "true");
      const described = (field?.get("aria-describedby") ?? "").split(" ");
      const texts = described.map((id) => contentOfId(tokens, id));
      assert.ok(texts.includes(fault), `${name}: ${texts.join(", ")}`);
    }
    assert.ok(!update?.fields.get("expiresIn")?.has("aria-invalid"));
  });

  test("edit: the form has the focus of the image in percent, and empty fields for the centre", async () => {
    const valuesFor = (focus: ImageView["focus"]) => {
      const [update] = forms(htmlTokens(create().edit({ ...EDIT, image: { ...IMAGE, focus } }, NOW).html));
      return ["focusX", "focusY"].map((name) => update?.fields.get(name)?.get("value") ?? "");
    };
    assert.deepEqual(valuesFor([0.3333, 0.07]), ["33.33", "7"]);
    assert.deepEqual(valuesFor([0, 1]), ["0", "100"]);
    assert.deepEqual(valuesFor(null), ["", ""]);
  });

  test("edit: a notice and a problem are announced to screen readers, and only if present", async () => {
    const tokens = htmlTokens(create().edit(EDIT, NOW).html);
    assert.equal(contentOfRole(tokens, "status"), EDIT.notice);
    assert.equal(contentOfRole(tokens, "alert"), EDIT.problem);
    const { notice: _, problem: __, ...silent } = EDIT;
    const quiet = htmlTokens(create().edit(silent, NOW).html);
    assert.equal(contentOfRole(quiet, "status"), null);
    assert.equal(contentOfRole(quiet, "alert"), null);
  });

  test("edit: the PIN is in hidden fields and nowhere else", async () => {
    const { html, contentSecurityPolicy } = create().edit(EDIT, NOW);
    const hidden = startTags(htmlTokens(html), "input").filter(
      ({ attributes }) => attributes.get("type") === "hidden" && attributes.get("value") === PIN,
    );
    assert.equal(html.split(PIN).length - 1, hidden.length);
    assert.ok(!contentSecurityPolicy.includes(PIN));
  });

  test("upload: the form posts the file and what was typed to its action, the only one that the policy allows", async () => {
    if (create().created === undefined) return;
    const { html, contentSecurityPolicy } = create().upload(UPLOAD, NOW);
    const [form, ...others] = forms(htmlTokens(html));
    assert.equal(others.length, 0);
    const { method, enctype, action } = Object.fromEntries(form?.tag.attributes ?? []);
    assert.deepEqual([method, enctype, action], ["post", "multipart/form-data", UPLOAD.form.action]);
    assert.deepEqual([...(form?.fields.keys() ?? [])].sort(), [
      "description",
      "expiresIn",
      "imagedata",
      "name",
    ]);
    assert.equal(form?.fields.get("imagedata")?.get("type"), "file");
    assert.ok(form?.fields.get("imagedata")?.has("required"));
    assert.equal(form?.fields.get("name")?.get("value"), "Typed.");
    assert.equal(form?.fields.get("description")?.get("value"), "Typed text.");
    const chosen = startTags(htmlTokens(html), "option").flatMap(({ attributes }) =>
      attributes.has("selected") ? [attributes.get("value")] : [],
    );
    assert.deepEqual(chosen, ["3600000"]);
    const sources = directives(contentSecurityPolicy).get("form-action") ?? [];
    assert.equal(sources.length, 1);
    assert.ok(UPLOAD.form.action.startsWith(sources[0] ?? ""), sources.join(" "));
  });

  test("upload: a refusal is announced with its reason, and without a form the page has none", async () => {
    const tokens = htmlTokens(create().upload(UPLOAD, NOW).html);
    if (create().created !== undefined) assert.ok(contentOfRole(tokens, "alert")?.includes("Refused upload"));
    const { form: _, refusal: __, ...bare } = UPLOAD;
    const without = htmlTokens(create().upload(bare, NOW).html);
    assert.equal(forms(without).length, 0);
    assert.equal(contentOfRole(without, "alert"), null);
  });

  test("created: the page shows the link, the edit link with the PIN, and the expiry with its zone", async () => {
    const page = create().created?.(CREATED);
    if (page === undefined) return;
    const tokens = htmlTokens(page.html);
    const shown = [...addressesIn(tokens), ...valuesOf(tokens, "input", "value")];
    for (const address of [IMAGE.viewUrl, CREATED.editUrl, `${IMAGE.baseUrl}/`]) {
      assert.ok(shown.includes(address), address);
    }
    assert.ok(textOf(tokens).includes(PIN));
    assert.equal(valuesOf(tokens, "time", "datetime")[0], IMAGE.expiresAt);
    assert.match(textOf(tokens), /UTC|GMT|[+-]\d\d:\d\d/);
    assert.ok(!page.contentSecurityPolicy.includes(PIN));
    const unready = create().created?.({ ...CREATED, image: { ...IMAGE, links: {} } });
    assert.notEqual(textOf(htmlTokens(unready?.html ?? "")), textOf(tokens));
  });

  test("unlock: the form requests the PIN by GET, shows why it is requested again, and contains no PIN", async () => {
    const tokens = htmlTokens(create().unlock(UNLOCK).html);
    const [form, ...others] = forms(tokens);
    assert.equal(others.length, 0);
    assert.equal(form?.tag.attributes.get("method") ?? "get", "get");
    assert.equal(form?.tag.attributes.get("action"), UNLOCK.action);
    assert.deepEqual([...(form?.fields.keys() ?? [])], ["pin"]);
    assert.equal(form?.fields.get("pin")?.get("value") ?? "", "");
    assert.equal(contentOfRole(tokens, "alert"), UNLOCK.problem);
    const { problem: _, ...first } = UNLOCK;
    assert.equal(contentOfRole(htmlTokens(create().unlock(first).html), "alert"), null);
  });

  test("problem: the page links the authority that blocks an image, and says when to retry", async () => {
    const blocked = { ...PROBLEM, status: 451, authority: "https://court.example/7" };
    assert.ok(addressesIn(htmlTokens(create().problem(blocked).html)).includes("https://court.example/7"));
    const busy = { ...PROBLEM, status: 429, retryAfterSeconds: 42 };
    assert.match(textOf(htmlTokens(create().problem(busy).html)), /42 seconds/);
  });

  test("problem: the page shows the status, the title and the detail", async () => {
    const text = textOf(htmlTokens(create().problem(PROBLEM).html));
    for (const part of ["410", PROBLEM.title, PROBLEM.detail]) assert.ok(text.includes(part));
  });
}
