import { expect, test } from "vitest";
import { decodePage } from "./decode-page.ts";
import { readPage } from "./read-page.ts";

const read = (html: string) =>
  readPage(html, { url: new URL("https://acme.example/team#top"), domain: "acme.example" });
const addressesIn = (html: string) => read(html).contacts.map(({ address }) => address);

test.each([
  ["<p>ada@acme.example</p>", ["ada@acme.example"]],
  ["<table><td>Lovelace<td>ada@acme.example<td>Tel</table>", ["ada@acme.example"]],
  ["ada@<wbr>acme.<wbr>example", ["ada@acme.example"]],
  ["ada<span>@</span>acme.exam&shy;ple", ["ada@acme.example"]],
  ["&#97;da&#64;acme&period;example", ["ada@acme.example"]],
  ["Bob@Sales.ACME.example.", ["bob@sales.acme.example"]],
  [
    "<a href='mailto:ada%40acme.example?subject=Hi&cc=bob@acme.example'>x</a>",
    ["ada@acme.example", "bob@acme.example"],
  ],
  ["<a href='mailto:?subject=x&body=see%20ada@acme.example'>share</a>", []],
  ["<code>ada@acme.example</code><!-- ada@acme.example --><script>'ada@acme.example'</script>", []],
  ["git@acme.example:team/site.git https://key@acme.example/1 ada@acme.example:~$ ls", []],
  ["postgres://app:key@db.acme.example:5432/main rsync://mirror@rsync.acme.example/pub", []],
  [
    "<a href='ssh://git@acme.example:22/x.git'>ssh://git@acme.example:22/x.git</a> [ada@gw.acme.example ~]# ls",
    [],
  ],
  ["web@acme.example/app:1.2 backup@acme.example:/srv/data xmpp:desk@acme.example sip:desk@acme.example", []],
  [
    "<pre>UID:20240301T0900-77@cal.acme.example</pre> Message-ID: <20240117093012.4F2A1@mx1.acme.example>",
    [],
  ],
  ["<p>@desk:acme.example <a href='https://acme.example/@news'>@news@social.acme.example</a></p>", []],
  ["x@acme.example.local x@my-acme.example x@acme.example.other @types/node@20.1.0 units@9.99 a@b", []],
  ["<template>ada@acme.example</template><style>.x::after{content:'ada@acme.example'}</style>", []],
  ["<script type=text/template>ada@acme.example</script><!--[if lt IE 9]>ada@acme.example<![endif]-->", []],
  [
    "<form><textarea>ada@acme.example</textarea><select><option value='ada@acme.example'>A</select></form>",
    [],
  ],
  ["<section style='color:red; DISPLAY :NONE!important'><div>ada@acme.example</div></section>", []],
  ["E-Mail:ada@acme.example", ["ada@acme.example"]],
  ["„ada@acme.example“ «bob@acme.example»", ["ada@acme.example", "bob@acme.example"]],
  ["<A HREF=mailto:%61%64%61@acme.example?>mail</A>", ["ada@acme.example"]],
  [
    "<a href='mailto:?to=ada%40acme.example&bcc=bob@acme.example'>x</a>",
    ["ada@acme.example", "bob@acme.example"],
  ],
  ["<input placeholder='ada@acme.example' value='ada@acme.example'> firstname.lastname@acme.example", []],
  ["<p hidden>ada@acme.example</p><p style='display: none'>bob@acme.example</p>", []],
  ["ada@gmail.com ada@notacme.example logo@2x.png vue@3.4.1", []],
])("the addresses of %s are %j", (html, addresses) => {
  expect(addressesIn(html)).toEqual(addresses);
});

test("a page says its own URL, whether it may be indexed, and its links", () => {
  const page = read(
    "<base href='/de/'><link rel=canonical href='/Team'><a href=one>One</a><a rel='nofollow' href=two>Two</a><a href='tel:1'>Tel</a>",
  );
  expect(page.url.href).toBe("https://acme.example/Team");
  expect(page.links.map(({ url }) => url.href)).toEqual(["https://acme.example/de/one"]);
  expect(page.isIndexable).toBe(true);
  expect(read("<link rel=canonical href='https://other.example/'>").url.href).toBe(
    "https://acme.example/team",
  );
  expect(read("<meta name=robots content='noindex, nofollow'><a href=one>One</a>")).toMatchObject({
    isIndexable: false,
    links: [],
  });
});

test.each([
  ["<meta charset=utf-8>Müller", "utf8", undefined, "Müller"],
  ["Müller", "utf8", undefined, "Müller"],
  ["Müller", "latin1", undefined, "Müller"],
  ["<meta charset=utf-8>Müller", "latin1", "text/html; charset=UTF-8", "Müller"],
  ["\ufeffMüller", "utf8", "text/html; charset=iso-8859-1", "Müller"],
  ["\ufeffMüller", "utf16le", undefined, "Müller"],
  ["<meta http-equiv=content-type content='text/html; charset=iso-8859-2'>\xb1", "latin1", undefined, "ą"],
] as const)("%j in %s with Content-Type %s reads as %s", (html, encoding, contentType, text) => {
  expect(decodePage(Buffer.from(html, encoding), contentType)).toMatch(new RegExp(`${text}$`));
});

test("the first declaration of a site's name counts, and every one of robots", () => {
  const twice = "<meta property=og:site_name content=Acme>".repeat(2);
  const page = read(`${twice}<meta name=robots content=all><meta name=robots content=noindex>`);
  expect(page).toMatchObject({ organization: "Acme", isIndexable: false });
});

test.each([
  ["index, follow, max-image-preview:none", true, 1],
  ["noindex", false, 1],
  ["NoArchive nofollow", false, 0],
  ["none", false, 0],
])("meta robots %j: stored %s, %i links", (content, isIndexable, links) => {
  const html = `<meta name="robots" content="${content}"><a href="/a">A</a>`;
  const page = readPage(html, {
    url: new URL("https://acme.example/"),
    domain: "acme.example",
  });
  expect([page.isIndexable, page.links.length]).toEqual([isIndexable, links]);
});
