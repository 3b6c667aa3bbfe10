import { each, type Layout, type PageStyle, type Shown, wrap } from "./layout.ts";

const divs = (lines: readonly string[], attributes = "") =>
  lines.map((line) => wrap(line, "div", attributes)).join("");

export const CARDS: readonly Layout[] = [
  {
    kind: "card with a heading",
    render: (shown, page) => {
      const heading = page.random.pick(["h2", "h3", "h4"]);
      return `<div class="team-grid">${each(
        shown,
        (one) =>
          `<div class="team-member">${page.photo(one)}<${heading}>${one.name}</${heading}>${wrap(one.position, "p", 'class="role"')}${wrap(one.phone, "p")}${wrap(one.mail, "p")}</div>`,
      )}</div>`;
    },
  },
  {
    kind: "card, address first",
    render: (shown, page) =>
      `<section class="people">${each(
        shown,
        (one) =>
          `<article class="person">${page.photo(one)}<div class="links">${one.mail} ${one.phone}</div><div class="info"><strong class="name">${one.name}</strong><span class="job">${one.position}</span></div></article>`,
      )}</section>`,
  },
  {
    kind: "card of Elementor",
    render: (shown) =>
      each(shown, (one) => {
        const widget = (type: string, inner: string) =>
          inner === ""
            ? ""
            : `<div class="elementor-element elementor-widget elementor-widget-${type}" data-element_type="widget"><div class="elementor-widget-container">${inner}</div></div>`;
        const icons = [one.phone, one.mail].filter((item) => item !== "");
        const items = icons.map(
          (item) =>
            `<li class="elementor-icon-list-item"><span class="elementor-icon-list-text">${item}</span></li>`,
        );
        return `<div class="elementor-column elementor-col-33"><div class="elementor-widget-wrap elementor-element-populated">${widget("heading", `<h4 class="elementor-heading-title">${one.name}</h4>`)}${widget("text-editor", wrap(one.position, "p"))}${widget("icon-list", items.length === 0 ? "" : `<ul class="elementor-icon-list-items">${items.join("")}</ul>`)}</div></div>`;
      }),
  },
  {
    kind: "card of Bootstrap",
    render: (shown, page) =>
      `<div class="row row-cols-3">${each(
        shown,
        (one) =>
          `<div class="col"><div class="card h-100">${page.photo(one)}<div class="card-body"><h5 class="card-title">${one.name}</h5>${wrap(one.position, "h6", 'class="card-subtitle text-muted"')}<p class="card-text">${page.filler()}</p></div><div class="card-footer">${page.lines({ ...one, position: "" }).join("<br>")}</div></div></div>`,
      )}</div>`,
  },
  {
    kind: "card of Wix",
    render: (shown) =>
      each(
        shown,
        (one) =>
          `<div id="comp-${one.entry.written.length}x" class="wixui-repeater__item"><div data-testid="richTextElement"><h6 class="font_6"><span style="font-weight:bold">${one.name}</span></h6></div><div data-testid="richTextElement"><p class="font_8"><span class="color_15">${one.position}</span></p></div><div data-testid="richTextElement"><p class="font_8"><span>${one.phone}</span></p><p class="font_8"><span><span class="wixGuard">​</span></span></p><p class="font_8">${one.mail}</p></div></div>`,
      ),
  },
  {
    kind: "card of Squarespace",
    render: (shown, page) =>
      `<ul class="user-items-list-item-container">${each(
        shown,
        (one) =>
          `<li class="list-item">${page.photo(one)}<div class="list-item-content"><h2 class="list-item-content__title">${one.name}</h2><div class="list-item-content__description">${page
            .lines(one)
            .map((line) => `<p style="white-space:pre-wrap;">${line}</p>`)
            .join("")}</div></div></li>`,
      )}</ul>`,
  },
  {
    kind: "card of a law firm",
    render: (shown, page) =>
      each(
        shown,
        (one) =>
          `<div class="lawyer"><a class="lawyer__image" href="/people/${one.entry.written.length}">${page.photo(one)}</a><div class="lawyer__text"><span class="lawyer__name">${one.name}</span>${wrap(one.position, "span", 'class="lawyer__position"')}<address>${page.lines({ ...one, position: "" }).join("<br>\n")}</address><a href="/vcard/${one.entry.written.length}.vcf">vCard</a></div></div>`,
      ),
  },
  {
    kind: "accordion",
    render: (shown, page) =>
      each(
        shown,
        (one) => `<details><summary>${one.name}</summary><div>${divs(page.lines(one))}</div></details>`,
      ),
  },
  {
    kind: "accordion of Bootstrap",
    render: (shown, page) =>
      `<div class="accordion">${each(
        shown,
        (one, index) =>
          `<div class="accordion-item"><h2 class="accordion-header"><button class="accordion-button collapsed" aria-expanded="false" data-bs-target="#c${index}">${one.name}</button></h2><div id="c${index}" class="accordion-collapse collapse"><div class="accordion-body">${page.lines(one).join("<br>")}</div></div></div>`,
      )}</div>`,
  },
  {
    kind: "figure",
    render: (shown, page) =>
      each(
        shown,
        (one) =>
          `<figure>${page.photo(one)}<figcaption><b>${one.name}</b><br>${page.lines(one).join("<br>")}</figcaption></figure>`,
      ),
  },
  {
    kind: "one page per person",
    render: (shown, page) => {
      const [first, ...others] = shown;
      return first === undefined ? "" : `${profile(first, page)}${each(others, (one) => profile(one, page))}`;
    },
  },
];

function profile(one: Shown, page: PageStyle): string {
  return `<article class="profile"><header><h1>${one.name}</h1>${wrap(one.position, "p", 'class="lead"')}</header><p>${page.filler()}</p><aside class="contact-box"><h2>${page.words.contact}</h2><ul>${page
    .lines({ ...one, position: "" })
    .map((line) => `<li>${line}</li>`)
    .join("")}</ul></aside></article>`;
}
