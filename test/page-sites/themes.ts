import { escapeHtml } from "./writings.ts";

/** The parts of a page. */
export interface Parts {
  language: string;
  title: string;
  organization: string;
  navigation: readonly { href: string; text: string }[];
  main: string;
  footer: string;
  /** Further elements of `<head>`. */
  head: string;
  charset: string;
}

const links = ({ navigation }: Parts, item = "li") =>
  navigation.map(({ href, text }) => `<${item}><a href="${href}">${escapeHtml(text)}</a></${item}>`).join("");
const headOf = ({ title, organization, head, charset }: Parts) =>
  `<meta charset="${charset}"><title>${escapeHtml(title)} – ${escapeHtml(organization)}</title><meta name="viewport" content="width=device-width">${head}`;
export const page = (parts: Parts, body: string, attributes = "") =>
  `<!doctype html>\n<html lang="${parts.language}"><head>${headOf(parts)}</head><body${attributes}>${body}</body></html>`;

/** Pages as common programs write them. */
export const THEMES: Readonly<Record<string, (parts: Parts) => string>> = {
  WordPress: (parts) =>
    page(
      parts,
      `<div id="page" class="site"><header id="masthead"><p class="site-title"><a href="/" rel="home">${escapeHtml(parts.organization)}</a></p><nav id="site-navigation"><ul id="primary-menu" class="menu">${links(parts)}</ul></nav></header><main id="primary"><article class="page type-page hentry"><header class="entry-header"><h1 class="entry-title">${escapeHtml(parts.title)}</h1></header><div class="entry-content">\n${parts.main}\n</div></article></main><footer id="colophon" class="site-footer"><div class="site-info">${parts.footer}</div></footer></div><script src="/wp-includes/js/wp-emoji-release.min.js?ver=6.4.2"></script>`,
      ' class="page-template-default page wp-theme"',
    ),
  Squarespace: (parts) =>
    page(
      parts,
      `<div id="siteWrapper"><header class="header"><div class="header-title">${escapeHtml(parts.organization)}</div><nav class="header-nav">${links(parts, "div")}</nav></header><main id="page"><article class="sections"><section class="page-section"><div class="content-wrapper"><div class="sqs-block html-block"><div class="sqs-html-content"><h1>${escapeHtml(parts.title)}</h1></div></div>${parts.main}</div></section></article></main><footer class="sections"><div class="sqs-html-content">${parts.footer}</div></footer></div>`,
    ),
  Wix: (parts) =>
    page(
      parts,
      `<div id="SITE_CONTAINER"><div id="masterPage"><header id="SITE_HEADER"><nav><ul>${links(parts)}</ul></nav></header><main id="PAGES_CONTAINER"><div id="SITE_PAGES"><div data-testid="mesh-container-content"><div data-testid="richTextElement"><h1 class="font_0">${escapeHtml(parts.title)}</h1></div>${parts.main}</div></div></main><footer id="SITE_FOOTER"><div>${parts.footer}</div></footer></div></div><script id="wix-essential-viewer-model" type="application/json">{"siteAssets":{"version":"1.2@beta"}}</script>`,
    ),
  university: (parts) =>
    page(
      parts,
      `<div class="page-header"><a href="/"><img src="/fileadmin/logo.svg" alt="${escapeHtml(parts.organization)}"></a></div><div class="breadcrumb"><a href="/">${escapeHtml(parts.organization)}</a> &gt; <span>${escapeHtml(parts.title)}</span></div><div class="columns"><nav class="left"><ul>${links(parts)}</ul></nav><div id="content" role="main"><h1>${escapeHtml(parts.title)}</h1>${parts.main}</div></div><div id="footer">${parts.footer}</div>`,
    ),
  Bootstrap: (parts) =>
    page(
      parts,
      `<nav class="navbar navbar-expand-lg"><a class="navbar-brand" href="/">${escapeHtml(parts.organization)}</a><ul class="navbar-nav">${links(parts)}</ul></nav><main class="container"><h1 class="display-4">${escapeHtml(parts.title)}</h1>${parts.main}</main><footer class="container py-3"><div class="row"><div class="col">${parts.footer}</div></div></footer>`,
    ),
  old: (parts) =>
    `<HTML><HEAD><META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=${parts.charset}"><TITLE>${escapeHtml(parts.title)}</TITLE>${parts.head}</HEAD><BODY BGCOLOR="#FFFFFF"><TABLE WIDTH="100%"><TR><TD WIDTH=150 VALIGN=top>${links(parts, "p")}<TD VALIGN=top><H1>${escapeHtml(parts.title)}</H1>${parts.main}<HR>${parts.footer}</TABLE></BODY></HTML>`,
};
