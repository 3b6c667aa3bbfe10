import type { ExtraKinds } from "../extras.ts";
import type { NoiseKinds } from "../noise.ts";
import { escapeHtml } from "../writings.ts";

export const FURTHER_NOISE: NoiseKinds = {
  "file name, other": ({ style }) => ({
    html: `<picture><source srcset="/team@1.5x.avif 1.5x"><img src="/team@4x.jpeg" alt="${escapeHtml(style.organization)}"></picture><p>hero@2x.webp, icon@3x.svg</p>`,
    bait: "hero@2x.webp",
  }),
  "package, scoped": () => ({
    html: "<p>Uses @types/node@20.1.0, react@18.2 and <code>pip install pkg@1.2</code>, lodash@latest.min.js</p>",
    bait: "lodash@latest.min.js",
  }),
  "container image": ({ domain }) => ({
    html: `<pre>docker pull registry.${domain}/app@sha256:3f0c9d\nimage: web@${domain}/app:1.2</pre>`,
    bait: `web@${domain}`,
  }),
  "database URL": ({ domain }) => ({
    html: `<p>postgres://app:secret@db.${domain}:5432/main</p>`,
    bait: `secret@db.${domain}`,
  }),
  "remote copy": ({ domain }) => ({
    html: `<p>Mirror: rsync://mirror@rsync.${domain}/pub or backup@store.${domain}:/srv/data</p>`,
    bait: `backup@store.${domain}`,
  }),
  "SSH URL": ({ domain }) => ({
    html: `<p><a href="ssh://git@code.${domain}:2222/tool.git">ssh://git@code.${domain}:2222/tool.git</a> · git+ssh://hg@hg.${domain}/x</p>`,
    bait: `git@code.${domain}`,
  }),
  "prompt of a shell": ({ domain }) => ({
    html: `<div class="terminal">[admin@gw.${domain} ~]# uptime</div>`,
    bait: `admin@gw.${domain}`,
  }),
  "state of a program": ({ people }) => {
    const gone = people.person();
    return {
      html: `<script id="__NEXT_DATA__" type="application/json">{"props":{"author":{"name":"${gone.written}","email":"${gone.address}"}}}</script>`,
      bait: gone.address,
    };
  },
  "template in a script": ({ people }) => {
    const gone = people.person();
    return {
      html: `<script type="text/template"><div class="card"><h3>${escapeHtml(gone.written)}</h3>${gone.address}</div></script>`,
      bait: gone.address,
    };
  },
  "hidden ancestor": ({ people }) => {
    const gone = people.person();
    return {
      html: `<section style="color:red; DISPLAY :NONE!important"><div><article><h3>${escapeHtml(gone.written)}</h3><p>${gone.address}</p></article></div></section>`,
      bait: gone.address,
    };
  },
  "commented-out row": ({ people }) => {
    const gone = people.person();
    return {
      html: `<table><tr><td>Info</td></tr><!-- <tr><td>${escapeHtml(gone.written)}</td><td><a href="mailto:${gone.address}">${gone.address}</a></td></tr> --></table>`,
      bait: gone.address,
    };
  },
  "option of a form": ({ domain }) => ({
    html: `<form><select name="to"><option value="dept1@${domain}">Sales</option></select><input value="me@${domain}" pattern=".+@${domain}"></form>`,
    bait: `dept1@${domain}`,
  }),
  "placeholder, other": ({ domain, style }) => ({
    html: `<label>${style.words.email}<input placeholder="max.mustermann@${domain}" title="you@${domain}"></label>`,
    bait: `max.mustermann@${domain}`,
  }),
  "pattern, other": ({ domain, style }) => ({
    html: `<p>${escapeHtml(style.words.email)}: {firstname}.{lastname}@${domain}, &lt;first&gt;.&lt;last&gt;@${domain}, f.lastname@${domain}</p>`,
    bait: `f.lastname@${domain}`,
  }),
  "chat address": ({ domain }) => ({
    html: `<p>Matrix: @desk:${domain} · <a href="xmpp:desk@chat.${domain}">xmpp:desk@chat.${domain}</a></p>`,
    bait: `desk@chat.${domain}`,
  }),
  "fediverse link": ({ domain }) => ({
    html: `<p>Follow <a rel="me" href="https://social.${domain}/@updates">@updates@social.${domain}</a></p>`,
    bait: `updates@social.${domain}`,
  }),
  "parent company": ({ people }) => {
    const other = people.person();
    const address = other.address.replace(/@.*/, "@holding-concern.example");
    return {
      html: `<p>${escapeHtml(other.written)}, <a href="mailto:${address}">${address}</a></p>`,
      bait: address,
    };
  },
  "share, no recipient": () => ({
    html: '<a href="mailto:?body=Look%20at%20this%3A%20friend%40web.example">✉</a><a href="mailto:">Mail</a>',
    bait: "friend@web.example",
  }),
  "not a domain": ({ domain }) => ({
    html: `<p>mail@${domain}.local, x@my-${domain}, web@${domain.replace(".", "-")}.test</p>`,
    bait: `x@my-${domain}`,
  }),
  "calendar id": ({ domain }) => ({
    html: `<script type="application/json">{"uid":"20240301T090000Z-8812@calendar.${domain}"}</script><pre>UID:20240301T0900-77@cal.${domain}</pre>`,
    bait: `20240301t0900-77@cal.${domain}`,
  }),
  "old browsers": ({ domain }) => ({
    html: `<!--[if lt IE 9]><p>Write to old@${domain}</p><![endif]-->`,
    bait: `old@${domain}`,
  }),
};

const quiet = <Item extends { phone: unknown }>(items: readonly Item[]) =>
  items.map((item) => ({ ...item, phone: null }));

export const FURTHER_EXTRAS: ExtraKinds = {
  "mailto with to and bcc": ([one, other], { words }) => ({
    html: `<a href="mailto:?to=${encodeURIComponent(one.address)}&amp;bcc=${other.address}">${escapeHtml(words.email)}</a>`,
    shown: quiet([one, other]),
  }),
  "mailto, several with names": ([one, other], { words }) => ({
    html: `<a href="mailto:Desk%20%3C${one.address}%3E,%20%3C${other.address}%3E">${escapeHtml(words.email)}</a>`,
    shown: quiet([one, other]),
  }),
  "JSON-LD departments": ([one, other], { organization }) => {
    const department = {
      "@type": "Organization",
      name: other.written,
      email: `mailto:${other.address}`,
      telephone: other.phone?.written,
    };
    const data = {
      "@context": "https://schema.org",
      "@type": "Dentist",
      name: organization,
      email: one.address,
      telephone: one.phone?.written,
      department: [department],
    };
    return {
      html: `<script type="application/ld+json">${JSON.stringify(data)}</script>`,
      shown: [one, other],
    };
  },
  "opening hours": ([one, other], style) => ({
    html: `<table><tr><th></th><th>${escapeHtml(style.words.phone)}</th><th>${escapeHtml(style.words.email)}</th></tr>${[one, other].map(({ written, phone, address }) => `<tr><td>${escapeHtml(written)}<br>08:00–17:30</td><td>${phone === null ? "" : style.phone(phone)}</td><td>${address}</td></tr>`).join("")}</table>`,
    shown: [one, other],
  }),
  /** Several numbers beside an address: fax, VAT, bank. */
  "imprint, other": ([one], style) => ({
    html: `<div class="imprint"><p>${escapeHtml(style.organization)}, Ring ${style.random.int(1, 99)}, ${style.random.digits("2####")} Altenbach</p><p>${one.phone === null ? "" : `${escapeHtml(style.words.phone)}: ${style.phone(one.phone)}, `}${escapeHtml(style.words.email)}: ${one.address}</p><p>CHE-${style.random.digits("1##.###.###")} · EORI ${style.random.digits("DE2#######")} · 2019/${style.random.digits("2####")}</p></div>`,
    shown: [one],
  }),
};
