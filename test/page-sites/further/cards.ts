import { each, type Layout, type PageStyle, type Shown, wrap } from "../layout.ts";

const rest = (one: Shown, page: PageStyle) => page.lines({ ...one, position: "" });
const divs = (lines: readonly string[]) => lines.map((line) => `<div>${line}</div>`).join("");

export const FURTHER_CARDS: readonly Layout[] = [
  {
    kind: "position below the name in the heading",
    render: (shown, page) =>
      each(
        shown,
        (one) =>
          `<li class="member"><h4>${one.name}${one.position === "" ? "" : `<br><span>${one.position}</span>`}</h4>${divs(rest(one, page))}</li>`,
      ),
  },
  {
    kind: "position with a label",
    render: (shown, page) =>
      each(
        shown,
        (one) =>
          `<div class="staff-entry"><div class="staff-name">${one.name}</div>${one.position === "" ? "" : `<div>${page.words.position}: ${one.position}</div>`}${divs(rest(one, page))}</div>`,
      ),
  },
  {
    kind: "position above the name",
    render: (shown, page) =>
      `<div class="grid">${each(shown, (one) => `<div class="tile">${wrap(one.position, "span", 'class="overline"')}<h3>${one.name}</h3>${page.photo(one)}<p>${rest(one, page).join("<br>")}</p></div>`)}</div>`,
  },
  {
    kind: "name linked to a profile",
    render: (shown, page) =>
      each(
        shown,
        (one) =>
          `<article class="views-row"><h3><a href="/people/${page.random.int(1, 999)}">${one.entry.written}</a></h3><div class="field field--name-field-role">${one.position}</div>${rest(
            one,
            page,
          )
            .map((line) => `<div class="field__item">${line}</div>`)
            .join("")}</article>`,
      ),
    isSentence: true,
  },
  {
    kind: "overlay before the name",
    render: (shown, page) =>
      each(
        shown,
        (one) =>
          `<figure class="effect"><div class="overlay"><ul class="social"><li>${one.mail}</li><li><a href="https://www.linkedin.com/in/p${page.random.int(1000, 9999)}"><i class="fab fa-linkedin"></i></a></li></ul></div>${page.photo(one)}<figcaption><h4>${one.name}</h4>${wrap(one.position, "span")}${wrap(one.phone, "span")}</figcaption></figure>`,
      ),
  },
  {
    kind: "sidebar box",
    render: (shown, page) =>
      each(
        shown,
        (one) =>
          `<aside class="widget"><h4 class="widget-title">${page.words.contact}</h4><div class="textwidget"><p><strong>${one.name}</strong><br>${page.lines(one).join("<br>")}</p></div></aside>`,
      ),
  },
  {
    kind: "tabs",
    render: (shown, page) =>
      `<ul role="tablist">${each(shown, (one, index) => `<li><a href="#tab-${index}" role="tab">${one.entry.written}</a></li>`)}</ul>${each(
        shown,
        (one, index) =>
          `<div id="tab-${index}" role="tabpanel" class="tab-pane"><h3>${one.name}</h3>${page
            .lines(one)
            .map((line) => `<p>${line}</p>`)
            .join("")}</div>`,
      )}`,
  },
  {
    kind: "rows of a grid",
    render: (shown, page) =>
      each(
        shown,
        (one) =>
          `<div class="row"><div class="col-md-4"><strong>${one.name}</strong></div><div class="col-md-4">${one.position}</div><div class="col-md-4">${rest(one, page).join("<br>")}</div></div>`,
      ),
  },
];

export const FURTHER_TEXTS: readonly Layout[] = [
  {
    kind: "name and position in one line",
    render: (shown, page) =>
      each(
        shown,
        (one) =>
          `<p><strong>${one.name}</strong>${one.position === "" ? "" : `, ${one.position}`}<br>${rest(one, page).join("<br>")}</p>`,
      ),
  },
  {
    kind: "lines with bars",
    render: (shown) =>
      each(
        shown,
        ({ name, position, phone, mail }) =>
          `<p>${[name, position, phone, mail].filter((part) => part !== "").join(" | ")}</p>`,
      ),
  },
];
