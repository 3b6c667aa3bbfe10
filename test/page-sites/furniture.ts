import type { PageStyle } from "./layout.ts";
import { escapeHtml } from "./writings.ts";

// What surrounds the text of a real page and is most of its bytes. Nothing of it is an address.

const SERVICES = 14;

/** Metadata, styles and scripts of a page. */
export function headFurniture(style: PageStyle, url: string): string {
  const { organization, random } = style;
  const metas = [
    `<link rel="canonical" href="${url}">`,
    `<meta name="description" content="${escapeHtml(style.filler())}">`,
    ...["title", "site_name", "description"].map(
      (name) => `<meta property="og:${name}" content="${escapeHtml(organization)}">`,
    ),
    `<meta property="og:url" content="${url}"><meta name="twitter:card" content="summary_large_image">`,
    ...[32, 180, 192].map(
      (size) => `<link rel="icon" href="/icons/icon-${size}@2x.png" sizes="${size}x${size}">`,
    ),
    ...["reset", "theme", "blocks", "print"].map(
      (name) =>
        `<link rel="stylesheet" href="/assets/${name}.css?ver=${random.int(1, 6)}.${random.int(0, 9)}">`,
    ),
  ];
  const rules = Array.from(
    { length: random.int(20, 60) },
    (_, index) =>
      `.b-${index}{margin:0 auto ${random.int(1, 40)}px;color:#${random.digits("######")};font:400 1rem/1.5 sans-serif}`,
  );
  const script = `window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments)}gtag("config","G-${random.digits("########")}");`;
  return `${metas.join("\n")}<style>${rules.join("\n")}</style><script>${script}</script>`;
}

/** Links of a menu, beyond the pages that the site has. */
export function menuFurniture({ random, language }: PageStyle) {
  const words = [...language.departments.split("|"), ...language.titles.split("|")];
  return Array.from({ length: random.int(8, SERVICES) }, (_, index) => ({
    href: `/services/${index}`,
    text: random.pick(words.map((word) => word.replace(/[ ,].*/, ""))),
  }));
}

/** Blocks behind the text: teasers with pictures and links. */
export function teaserFurniture(style: PageStyle): string {
  const { random, words } = style;
  const teasers = Array.from({ length: random.int(2, 5) }, (_, index) => {
    const icon = `<svg class="icon" viewBox="0 0 24 24"><path d="M${random.digits("#.## ##.#")}c0-1.1.9-2 2-2h16v${random.digits("##")}H4z"/><path d="M12 2l3 7h7l-6 4z"/></svg>`;
    return `<div class="teaser teaser--${index}"><a class="teaser__link" href="/news/${random.int(10, 99)}">${icon}<span class="teaser__title">${escapeHtml(words.news)} ${random.int(2010, 2026)}</span></a><div class="teaser__text"><p>${escapeHtml(style.filler())}</p></div></div>`;
  });
  return `<section class="teasers"><div class="inner">${teasers.join("\n")}</div></section>`;
}

/** Columns of a footer above its last line. */
export function footerFurniture(style: PageStyle): string {
  const { random, words } = style;
  const column = (heading: string) =>
    `<div class="footer-column"><h4>${escapeHtml(heading)}</h4><ul>${menuFurniture(style)
      .slice(0, random.int(3, 7))
      .map(({ href, text }) => `<li class="menu-item"><a href="${href}">${escapeHtml(text)}</a></li>`)
      .join("")}</ul></div>`;
  const social = ["facebook", "instagram", "youtube"].map(
    (name) =>
      `<a class="social social--${name}" href="https://${name}.example/page" aria-label="${name}"><i class="icon-${name}"></i></a>`,
  );
  return `<div class="footer-columns">${column(words.home)}${column(words.news)}</div><div class="social-links">${social.join("")}</div>`;
}
