import { type Parts, page } from "../themes.ts";
import { escapeHtml } from "../writings.ts";

const items = ({ navigation }: Parts) =>
  navigation.map(({ href, text }) => `<li><a href="${href}">${escapeHtml(text)}</a></li>`).join("");

export const FURTHER_THEMES: Readonly<Record<string, (parts: Parts) => string>> = {
  Drupal: (parts) =>
    page(
      parts,
      `<a href="#main-content" class="visually-hidden focusable skip-link">Skip</a><div class="dialog-off-canvas-main-canvas"><header role="banner"><div class="region region-header">${escapeHtml(parts.organization)}</div></header><nav role="navigation"><ul>${items(parts)}</ul></nav><main role="main"><a id="main-content" tabindex="-1"></a><div class="layout-content"><h1 class="page-title">${escapeHtml(parts.title)}</h1><div class="node__content"><div class="clearfix text-formatted field--name-body">${parts.main}</div></div></div></main><footer role="contentinfo">${parts.footer}</footer></div><div class="cookie-banner" role="dialog"><p>Cookies</p><button>OK</button></div>`,
    ),
  XHTML: (parts) =>
    `<?xml version="1.0" encoding="${parts.charset}"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\n<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="${parts.language}" lang="${parts.language}"><head><meta http-equiv="Content-Type" content="text/html; charset=${parts.charset}" /><title>${escapeHtml(parts.title)}</title>${parts.head}<style type="text/css">/*<![CDATA[*/ @import url(a.css); /*]]>*/</style></head><body><div id="nav"><ul>${items(parts)}</ul></div><div id="main"><h2>${escapeHtml(parts.title)}</h2>${parts.main}</div><div id="foot">${parts.footer}</div></body></html>`,
  React: (parts) =>
    page(
      parts,
      `<div id="__next"><div class="css-1k2x"><nav class="css-9ab">${parts.navigation.map(({ href, text }) => `<a class="css-3c" href="${href}">${escapeHtml(text)}</a>`).join("")}</nav><div class="css-77f"><h1 class="css-0">${escapeHtml(parts.title)}<!-- --> – <!-- -->${escapeHtml(parts.organization)}</h1><div class="css-12">${parts.main}</div></div><div class="css-foot">${parts.footer}</div></div></div><script id="__NUXT__">window.__NUXT__={v:"1.0@rc"}</script>`,
    ),
  Webflow: (parts) =>
    page(
      parts,
      `<div class="navbar w-nav"><a href="/" class="w-nav-brand">${escapeHtml(parts.organization)}</a><nav role="navigation" class="w-nav-menu"><ul>${items(parts)}</ul></nav></div><section class="section"><div class="w-container"><h1 class="heading">${escapeHtml(parts.title)}</h1><div class="w-dyn-list">${parts.main}</div></div></section><div class="footer w-container">${parts.footer}</div>`,
    ),
  frameless: (parts) =>
    `<html><head><title>${escapeHtml(parts.title)}</title>${parts.charset === "utf-8" ? '<meta charset="utf-8">' : ""}${parts.head}</head><body lang="${parts.language}"><center><font face="Verdana"><b>${escapeHtml(parts.title)}</b><p>${parts.navigation.map(({ href, text }) => `<a href='${href}'>${escapeHtml(text)}</a>`).join(" | ")}</font></center><br>${parts.main}<p><hr>${parts.footer}`,
};
