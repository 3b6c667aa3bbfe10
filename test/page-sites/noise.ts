import type { PageStyle } from "./layout.ts";
import type { People } from "./people.ts";
import { escapeHtml } from "./writings.ts";

/** Something that only looks like an address of the site, or is one that the page does not show. */
export interface Noise {
  kind: string;
  html: string;
  /** What a careless reader would take from it. */
  bait: string;
}

export interface Place {
  domain: string;
  people: People;
  style: PageStyle;
}

export type NoiseKinds = Readonly<Record<string, (place: Place) => Omit<Noise, "kind">>>;

export const NOISE: NoiseKinds = {
  "file name": ({ style }) => ({
    html: `<img src="/img/logo@2x.png" srcset="/img/logo@2x.png 2x, /img/logo@3x.webp 3x" alt="logo@2x.png ${escapeHtml(style.organization)}">`,
    bait: "logo@2x.png",
  }),
  "package version": ({ style }) => ({
    html: `<script src="https://cdn.example/npm/${style.random.pick(["vue@3.4.1", "swiper@11.0.5", "bootstrap@5.3.3"])}/dist/index.min.js"></script><p><code>npm install chart.js@4.4.1</code></p>`,
    bait: "chart.js@4.4.1",
  }),
  DSN: ({ domain }) => ({
    html: `<script>Sentry.init({dsn:"https://3f0c9d2b7e@errors.${domain}/42"});</script>`,
    bait: `3f0c9d2b7e@errors.${domain}`,
  }),
  "shell prompt": ({ domain }) => ({
    html: `<pre>deploy@web01.${domain}:~$ ls -l\nscp report.pdf backup@files.${domain}:/srv/</pre>`,
    bait: `deploy@web01.${domain}`,
  }),
  "URL with a user": ({ domain }) => ({
    html: `<p>FTP: <a href="ftp://guest@ftp.${domain}/pub">ftp://guest@ftp.${domain}/pub</a></p>`,
    bait: `guest@ftp.${domain}`,
  }),
  placeholder: ({ domain, style }) => ({
    html: `<form action="/newsletter" method="post"><label>${style.words.email} <input type="email" name="email" placeholder="name@${domain}"></label><button>OK</button></form>`,
    bait: `name@${domain}`,
  }),
  "share link": ({ domain, style }) => ({
    html: `<a class="share" href="mailto:?subject=${encodeURIComponent(style.filler())}&amp;body=https%3A%2F%2Fwww.${domain}%2F">Share</a>`,
    bait: "(none)",
  }),
  "commented-out person": ({ people, style }) => {
    const gone = people.person();
    return {
      html: `<!-- <div class="team-member"><h3>${escapeHtml(gone.written)}</h3><p>${style.words.email}: <a href="mailto:${gone.address}">${gone.address}</a></p></div> -->`,
      bait: gone.address,
    };
  },
  "hidden person": ({ people, style }) => {
    const gone = people.person();
    const hide = style.random.pick(['style="display: none"', "hidden", 'style="visibility:hidden;height:0"']);
    return {
      html: `<div class="team-member" ${hide}><h3>${escapeHtml(gone.written)}</h3><p><a href="mailto:${gone.address}">${gone.address}</a></p></div>`,
      bait: gone.address,
    };
  },
  agency: ({ style }) => {
    const address = style.random.pick([
      "hello@pixelwerk.example",
      "studio@northlight.example",
      "web@lumen-agency.example",
    ]);
    return {
      html: `<p class="credits">Webdesign: <a href="mailto:${address}">${address}</a></p>`,
      bait: address,
    };
  },
  partner: ({ people, style }) => {
    const partner = people.person();
    const address = partner.address.replace(/@.*/, "@partner-verband.example");
    return {
      html: `<div class="partner"><h4>${escapeHtml(partner.written)}</h4><p>${style.words.email}: ${address}</p></div>`,
      bait: address,
    };
  },
  "social handle": ({ domain, style }) => ({
    html: `<p>Mastodon: @news@social.${domain} · X: @${style.random.pick(["acme", "office", "team"])}</p>`,
    bait: `news@social.${domain}`,
  }),
  "SIP address": ({ domain }) => ({
    html: `<p>SIP: <a href="sip:reception@sip.${domain}">sip:reception@sip.${domain}</a></p>`,
    bait: `reception@sip.${domain}`,
  }),
  "pattern of addresses": ({ domain, style }) => {
    const pattern = `${style.random.pick(["firstname.lastname", "vorname.nachname", "prenom.nom", "name.surname"])}@${domain}`;
    return { html: `<p>${escapeHtml(style.words.email)}: ${pattern}</p>`, bait: pattern };
  },
};
