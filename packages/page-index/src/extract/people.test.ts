import { expect, test } from "vitest";
import type { FoundContact } from "./found-contact.ts";
import { readPage } from "./read-page.ts";

const read = (html: string) =>
  readPage(html, { url: new URL("https://acme.example/team"), domain: "acme.example" }).contacts;
/** `address: first|last|position|phone`, without trailing empty fields. */
const line = ({ address, firstName, lastName, position, phoneNumber }: FoundContact) =>
  `${address.split("@")[0]}: ${[firstName, lastName, position, phoneNumber].map((field) => field ?? "").join("|")}`.replace(
    /[|: ]+$/,
    "",
  );
const lines = (html: string) => read(html).map(line);

const mail = (local: string, text = `${local}@acme.example`) =>
  `<a href="mailto:${local}@acme.example">${text}</a>`;
const ADA = "ada.lovelace: Ada|Lovelace|Mathematician|+44 20 7946 0018";
const BOB = "bob.ray: Bob|Ray|Engineer|+44 20 7946 0019";

test.each([
  [
    "cards of a grid",
    `<div class="card"><h3>Ada Lovelace</h3><p>Mathematician</p><p>+44 20 7946 0018</p>${mail("ada.lovelace")}</div>
     <div class="card"><h3>Bob Ray</h3><p>Engineer</p><p>+44 20 7946 0019</p>${mail("bob.ray", "Email")}</div>`,
  ],
  [
    "cards that begin with the address",
    `<div>${mail("ada.lovelace")}<h3>Ada Lovelace</h3><p>Mathematician</p><p>Tel. +44 20 7946 0018</p></div>
     <div>${mail("bob.ray")}<h3>Bob Ray</h3><p>Engineer</p><p>Tel. +44 20 7946 0019</p></div>`,
  ],
  [
    "cards of Elementor",
    `<div class="elementor-column"><div class="elementor-widget-wrap"><div><h2 class="elementor-heading-title">Ada Lovelace</h2></div>
     <div><div class="elementor-widget-container">Mathematician</div></div><ul class="elementor-icon-list-items"><li><a href="tel:+442079460018">
     <span class="elementor-icon-list-icon"><i aria-hidden="true" class="fas fa-phone"></i></span><span>+44 20 7946 0018</span></a></li>
     <li>${mail("ada.lovelace", "Write")}</li></ul></div></div>
     <div class="elementor-column"><div class="elementor-widget-wrap"><div><h2 class="elementor-heading-title">Bob Ray</h2></div>
     <div><div class="elementor-widget-container">Engineer</div></div><ul><li><a href="tel:+442079460019"><span>+44 20 7946 0019</span></a></li>
     <li>${mail("bob.ray", "Write")}</li></ul></div></div>`,
  ],
  [
    "spans without blanks between them",
    `<div><span>Ada Lovelace</span><span>Mathematician</span><span>+44 20 7946 0018</span><span>ada.lovelace@acme.example</span></div>
     <div><span>Bob Ray</span><span>Engineer</span><span>+44 20 7946 0019</span><span>bob.ray@acme.example</span></div>`,
  ],
  [
    "headings and paragraphs in a row",
    `<h3>Ada Lovelace</h3><p>Mathematician</p><p>Phone: +44 20 7946 0018</p><p>${mail("ada.lovelace")}</p>
     <h3>Bob Ray</h3><p>Engineer</p><p>Phone: +44 20 7946 0019</p><p>${mail("bob.ray")}</p>`,
  ],
  [
    "names that are the links",
    `<ul><li>${mail("ada.lovelace", "Ada Lovelace")}, Mathematician, +44 20 7946 0018</li><li>${mail("bob.ray", "Bob Ray")}, Engineer, +44 20 7946 0019</li></ul>`,
  ],
  [
    "a table with headings, the family name first",
    `<table><tr><th>Name<th>Position<th>Phone<th>Email<tr><td>Lovelace, Ada<td>Mathematician<td>+44 20 7946 0018<td>${mail("ada.lovelace")}
     <tr><td>Ray, Bob<td>Engineer<td>+44 20 7946 0019<td>${mail("bob.ray")}</table>`,
  ],
  [
    "a table with merged headings, fax numbers and first names apart",
    `<table><tr><th rowspan=2>Nachname<th rowspan=2>Vorname<th rowspan=2>Funktion<th colspan=3>Kontakt<tr><th>Telefax<th>Telefon<th>E-Mail
     <tr><td>Lovelace<td>Ada<td>Mathematician<td>+44 1<td>+44 20 7946 0018<td>ada.lovelace@acme.example
     <tr><td>Ray<td>Bob<td>Engineer<td>+44 2<td>+44 20 7946 0019<td>bob.ray@acme.example</table>`,
  ],
  [
    "a table for each person",
    `<table><tr><td>Name:<td>Ada Lovelace<tr><td>Title:<td>Mathematician<tr><td>Fax:<td>+44 20 7946 9999<tr><td>Phone:<td>+44 20 7946 0018<tr><td>E-mail:<td>${mail("ada.lovelace", "mail")}</table>
     <table><tr><td>Name:<td>Bob Ray<tr><td>Title:<td>Engineer<tr><td>Phone:<td>+44 20 7946 0019<tr><td>E-mail:<td>${mail("bob.ray", "mail")}</table>`,
  ],
  [
    "one definition list",
    `<dl><dt>Ada Lovelace<dd>Mathematician<dd>+44 20 7946 0018<dd>${mail("ada.lovelace")}<dt>Bob Ray<dd>Engineer<dd>+44 20 7946 0019<dd>${mail("bob.ray")}</dl>`,
  ],
  [
    "microdata of siblings in a line",
    `<div itemscope itemtype="https://schema.org/Person"><span itemprop="name">Ada Lovelace</span><span itemprop="jobTitle">Mathematician</span><a itemprop="email" href="mailto:ada.lovelace@acme.example">ada.lovelace@acme.example</a><span itemprop="telephone">+44 20 7946 0018</span></div>
     <div itemscope itemtype="https://schema.org/Person"><span itemprop="givenName">Bob</span> <span itemprop="familyName">Ray</span><span itemprop="jobTitle">Engineer</span><span itemprop="email">bob.ray@acme.example</span><span itemprop="telephone">+44 20 7946 0019</span></div>`,
  ],
  [
    "hCard and h-card",
    `<p class="vcard"><span class="fn">Ada Lovelace</span> <span class="title">Mathematician</span> <span class="tel">+44 20 7946 0018</span> <a class="email" href="mailto:ada.lovelace@acme.example">mail</a></p>
     <p class="h-card"><span class="p-name">Bob Ray</span> <span class="p-job-title">Engineer</span> <span class="p-tel">+44 20 7946 0019</span> <a class="u-email" href="mailto:bob.ray@acme.example">mail</a></p>`,
  ],
  [
    "JSON-LD",
    `<script type="application/ld+json">{"@context":"https://schema.org","@graph":[{"@type":"Organization","name":"Acme","email":"info@other.example","employee":[{"@id":"#ada"},
     {"@type":["Person"],"givenName":"Bob","familyName":"Ray","jobTitle":{"@type":"DefinedTerm","name":"Engineer"},"contactPoint":{"@id":"#desk"}}]},
     {"@type":"Person","@id":"#ada","name":"Ada Lovelace","email":"mailto:ada.lovelace@acme.example","jobTitle":"Mathematician","telephone":"+44 20 7946 0018"},
     {"@id":"#desk","@type":"ContactPoint","email":"bob.ray@acme.example","telephone":"+44 20 7946 0019",}]}</script>`,
  ],
])("people in %s have their names, positions and phones", (_, html) => {
  expect(lines(`<h1>Our Team</h1>${html}<footer>Acme Ltd · Phone +44 20 7946 0000</footer>`).sort()).toEqual([
    ADA,
    BOB,
  ]);
});

test.each([
  [
    `<div><h3>Ada King</h3>${mail("contact")}</div><div><h3>Bob Ray</h3>${mail("contact")}</div>`,
    ["contact"],
  ],
  [`<h2>Sales Department</h2><p>Tel: 030 1234567<br>${mail("sales")}</p>`, ["sales: |||030 1234567"]],
  [`<p>${mail("ada.lovelace")}</p>`, ["ada.lovelace"]],
  [`<h1>Contact Us</h1><p>Main Street 1, ${mail("al")}</p>`, ["al"]],
  [`<p>Fax 030 1234567 · ${mail("ada")}</p>`, ["ada"]],
  [`<p>HRB 12345678 · USt-IdNr. 123 456 789 · 2026-11-26 · ${mail("ada")}</p>`, ["ada"]],
  [
    `<p>Kundekonsulent: <strong>Ada Lovelace</strong><br>${mail("ada")}</p>`,
    ["ada: Ada|Lovelace|Kundekonsulent"],
  ],
  [`<h3>Ada Lovelace<small>Ingénieure</small></h3><p>${mail("ada")}</p>`, ["ada: Ada|Lovelace|Ingénieure"]],
  [`<div><h3>Ada Lovelace, MBA</h3><p>${mail("ada")}</p></div>`, ["ada: Ada|Lovelace"]],
  [
    `<pre>Ada Lovelace\nEngineer\nada@acme.example</pre><map><area href="mailto:bob@acme.example"></map>`,
    ["ada: Ada|Lovelace|Engineer", "bob"],
  ],
  ["Message-ID: 20260117093012.4f2a1@acme.example f.lastname@acme.example xmpp:desk@acme.example", []],
  [`<a href="mailto:Ada%20Lovelace%20%3Cada@acme.example%3E">mail</a>`, ["ada: Ada|Lovelace"]],
  [
    `<a href="mailto:bob@acme.example,ada@acme.example?cc=eve@acme.example">Bob Ray</a>`,
    ["bob", "ada", "eve"],
  ],
  [
    `<li>Prof.ssa Ada Lovelace – Direttrice – ${mail("a.lovelace")}</li>`,
    ["a.lovelace: Ada|Lovelace|Direttrice"],
  ],
  [`<html lang=hu><div><h3>Nagy Anna</h3>${mail("nagy")}</div>`, ["nagy: Anna|Nagy"]],
  [
    `<div><h3>Carlos Reis Santos</h3>${mail("carlos.reissantos")}</div>`,
    ["carlos.reissantos: Carlos|Reis Santos"],
  ],
  [`<div><h3>下田 真由美</h3><p>弁護士</p>${mail("m")}</div>`, ["m: 真由美|下田|弁護士"]],
  [
    `<div><b>Ada Lovelace</b><p>Mobile +44 7700 900123<p>Phone +44 20 7946 0018<p>${mail("ada")}</div>`,
    ["ada: Ada|Lovelace||+44 20 7946 0018"],
  ],
])("%s is read as %j", (html, wanted) => {
  expect(lines(html)).toEqual(wanted);
});

test.each([
  "<p>Marie Curie&nbsp;&nbsp; Leiterin&nbsp;&nbsp; mc@acme.example<br>Max Planck&nbsp;&nbsp; mp@acme.example</p>",
  "<pre>Name          E-Mail\nMarie Curie   mc@acme.example\nMax Planck    mp@acme.example</pre>",
  "<ul><li>Max Planck Sachbearbeiterin mc@acme.example</li><li>Abteilung Marie Curie mp@acme.example</li></ul>",
  `<p>${mail("mc")} Marie Curie +49 30 9018201<br>${mail("mp")} Max Planck</p>`,
  "<pre>Marie Curie           Max Planck\nLeiterin     Assistent\nmc@acme.example   mp@acme.example</pre>",
  "<p>For the engine write to Marie Curie, mc@acme.example. For machines, ask Max Planck, mp@acme.example.</p>",
  "<p>Marie Curie<br>mc@acme.example<br><br>Max Planck<br>mp@acme.example</p>",
])("the addresses of %s have no person, since nothing but their order tells it", (html) => {
  expect(lines(html)).toEqual(["mc", "mp"]);
});

test("profiles belong to the person beside them, and no company page is one", () => {
  const html = `<div><h3>Ada Lovelace</h3>${mail("ada")}<a href="https://www.linkedin.com/in/ada"></a><a href="https://x.com/ada_l">X</a></div>
    <div><h3>Bob Ray</h3>${mail("bob")}<a href="https://www.linkedin.com/company/acme">in</a></div>`;
  expect(read(html)).toMatchObject([
    { address: "ada@acme.example", networkAUrl: "https://www.linkedin.com/in/ada", networkB: "@ada_l" },
    { address: "bob@acme.example", networkAUrl: null, networkB: null },
  ]);
});

test.each([
  "ada [at] acme.example",
  "ada(at)acme(dot)example",
  "ada AT acme DOT example",
  "ada {arobase} acme {point} example",
  "ada chiocciola acme punto example",
  "ada (собака) acme.example",
  "ada [アットマーク] acme [ドット] example",
  "ada @ acme.example",
  "ada<i class='fa fa-at'></i>acme.example",
  "ada<img alt='@' src=at.gif>acme.example",
  "ada<span style='display:none'>x</span>@acme.example",
  "<style>.no{display:none}</style>ada<b class=no>nospam</b>@acme.example",
  "adaNOSPAM@acme.example",
  "<html lang=tr>İletişim ada [at] acme.example",
  "<a aria-label='ada [at] acme.example'></a>",
  "ada<i class='bi bi-at' aria-hidden=true></i>acme.example",
  "<span style='unicode-bidi:bidi-override;direction:rtl'>elpmaxe.emca@ada</span>",
  "<p><strong>Mail:</strong> <bdo dir=rtl>elpmaxe.emca@ada</bdo></p>",
  "<span data-cfemail='5534313415343638307b302d3438253930'>[email protected]</span>",
  "<a href='/cdn-cgi/l/email-protection#5534313415343638307b302d3438253930'>mail</a>",
  "<a data-user=ada data-domain=acme.example></a>",
  "<a data-tld=example data-name=ada data-domain=acme></a>",
  "<span data-mail='ada(at)acme.example'></span>",
  "<a href='mailto:ada[at]acme.example'>mail</a>",
  `<a onclick="location='mai'+'lto:ada'+'@'+'acme.example'">mail</a>`,
  "<a data-name=ada data-x=1 title='@acme.example'>mail</a>",
])("%s hides its address, which is not read", (html) => {
  expect(read(html)).toEqual([]);
});

test.each([
  "meet us at acme.example",
  "look at acme.example for more",
  "<p>data-user and acme.example</p>",
  "<script>var a='ada'+'@'+'acme.example'</script>",
])("%s is no address", (html) => {
  expect(read(html)).toEqual([]);
});
