import type { FoundPage } from "@outrigger/sql";

/** Longer ones are not read: every URL is a key in the database. */
export const MAX_URL_LENGTH = 1024;
/** Parameters that do not change a page. */
const TRACKING = /^(?:utm_\w+|fbclid|gclid|dclid|msclkid|yclid|igshid|mc_[ce]id|_hs\w+)$/i;
const OTHER_FILE =
  /\.(?:pdf|jpe?g|png|gif|webp|avif|svg|ico|css|m?js|json|xml|rss|atom|zip|t?gz|bz2|rar|7z|exe|dmg|apk|mp[34]|m4a|mov|avi|webm|wav|ogg|docx?|xlsx?|pptx?|od[tsp]|ics|vcf|txt|csv|woff2?|ttf|eot)$/i;

/** Contact, team, people, staff, about, imprint and press in 15 languages and more, without accents. */
const TELLING = new RegExp(
  folded(
    [
      "conta[ct]t|contato|kontakt|kapcsolat|yhteys|[iı]let[iı]s[iı]m|контакт|επικοινωνια|お問い合わせ|連絡先|联系|聯絡|문의|연락",
      "team|equip[oae]|squadra|zespo[lł]|\\btym\\b|ekip|csapat|tiimi|echipa|команда|ομαδα|チーム|团队|團隊|팀",
      "people|person|staff|employee|mitarbeiter|ansprechpartner|medewerker|collaborat|colaborador|empleados|pracowni|zamestnanc",
      "medarbe|ansatte|henkilo|munkatars|angajati|cal[iı]san|сотрудник|співробітник|προσωπικο|社員|スタッフ|员工|직원",
      "management|leadership|direct(?:ion|ory)|vorstand|board|faculty|founder",
      "about|uber[-_ ]?uns|ueber[-_ ]?uns|a[-_ ]?propos|qui[-_ ]sommes|chi[-_ ]siamo|quienes|sobre|over[-_ ]ons|o[-_ ](?:nas|firme)\\b",
      "om[-_ ](?:oss|os)\\b|meista|rolunk|despre|hakk[iı]m[iı]zda|о[-_ ](?:нас|компании)|про[-_ ]нас|σχετικα|会社概要|关于|關於|회사",
      "imprint|impress[ou]m|mentions[-_ ]legales|aviso[-_ ]legal|note[-_ ]legali|colofon|tiraz|kunye|特定商取引",
      "press|prensa|stampa|imprensa|\\bpers\\b|prasa|tisk|sajto|lehdisto|basin|media|пресс|τυπο|プレス|媒体|보도",
    ].join("|"),
  ),
);

export function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** A URL without what does not change its page. */
export function plainUrl(given: URL): URL {
  const url = new URL(given);
  url.hash = url.username = url.password = "";
  const parts = url.search.slice(1).split("&");
  const kept = parts.filter((part) => !TRACKING.test(part.split("=", 1)[0] ?? ""));
  if (kept.length < parts.length) url.search = kept.join("&");
  return url;
}

/** Equal for the usual spellings of one page: with and without `www.`, a slash at the end, TLS. */
export function pageKey({ host, pathname, search }: URL): string {
  return `${host.replace(/^www\./, "")}${pathname.replace(/(?<!\/)\/+$/, "")}${search}`;
}

/** The page of a link; `null` if it cannot have contacts of the domain. */
export function foundPage(given: URL, text: string, domain: string, depth: number): FoundPage | null {
  const { hostname, href, pathname } = given;
  if (!isWithin(hostname, domain) || href.length > MAX_URL_LENGTH || OTHER_FILE.test(pathname)) return null;
  const url = plainUrl(given);
  return {
    key: pageKey(url),
    url: url.href,
    isSitemap: false,
    depth,
    rank: isTelling(`${pathname} ${text}`) ? 2 : 3,
  };
}

/** The pages of links as {@link foundPage}, each once, telling ones first. */
export function foundPages(
  links: readonly { url: URL; text: string }[],
  domain: string,
  depth: number,
): FoundPage[] {
  const found = new Map<string, FoundPage>();
  for (const { url, text } of links) {
    const page = foundPage(url, text, domain, depth);
    if (page !== null && page.rank < (found.get(page.key)?.rank ?? Infinity)) found.set(page.key, page);
  }
  return [...found.values()].sort((one, other) => one.rank - other.rank);
}

/** Where the first page of a domain may be, most likely first. */
export function startUrls(domain: string, internalHosts: readonly string[]): string[] {
  const hosts = [domain, `www.${domain}`];
  const own = internalHosts
    .map((entry) => new URL(`http://${entry}`))
    .filter(({ hostname, port }) => hosts.includes(hostname) && port !== "")
    .flatMap(({ host }) => [`https://${host}/`, `http://${host}/`]);
  return [...own, ...["https", "http"].flatMap((scheme) => hosts.map((host) => `${scheme}://${host}/`))];
}

function isTelling(text: string): boolean {
  let plain = text;
  try {
    plain = decodeURIComponent(text);
  } catch {
    // Not UTF-8, or a text with a percent sign.
  }
  return TELLING.test(folded(plain));
}

/** In lower case without accents. Also Hangul and Katakana come apart: what is compared with it must be folded, too. */
function folded(text: string): string {
  return text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
}
