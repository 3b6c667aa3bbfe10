import { classifyTitle, nameFault, normaliseName, parseFullName } from "@outrigger/core/lookup";

export interface PersonName {
  firstName: string;
  lastName: string;
}

/** Words in a name that need no capital. */
const PARTICLE =
  /^(?:v[ao]n|vom|und|de[rnsl]?|het|'t|te[rn]?|zu[mr]?|a[fv]|d[iao]s?|dell[aeo]|degli|dal|du|l[aeo]s?|d['’]|y|e|el|al|bin|ibn|ben|abu|mac|mc|st\.?|san|bint|geb\.?|dr\.?|prof\.?|med\.?|dott\.?|ing\.?|avv\.?)$/i;
const CAPITALISED = /^["“'(]?(?:[\p{Lu}\p{Lt}\p{Lo}]|[dlo]['’]\p{Lu})/u;
/** Words of headings, organisations, streets and links that no name has. */
const NO_NAME = new RegExp(
  `(?:^|[\\s/-])(?:${[
    "team|contact\\w*|kontakt\\w*|contatt\\w*|contat[oi]s?|about|our|us|unser\\w*|nostr[aio]|notre|nuestro|your|you|office|offices|büro|bureau|department|departamento|abteilung|ufficio|service[s]?|servicio|servizio|customer|client[es]*|kunden\\w*|sales|vertrieb|support|press|presse\\w*|prensa|stampa",
    "company|gmbh|ag|kg|ohg|ltd|limited|llc|inc|plc|corp|sarl|spa|s\\.p\\.a\\.?|srl|b\\.?v\\.?|a\\/?s|oy|ab|street|straße|strasse|road|avenue|allee|boulevard|rue|calle|platz|square|floor|etage|read|more|mehr|learn|view|phone|telefon|email|e-mail|mail|website|news|home|imprint|impressum|privacy|policy|terms|cookie\\w*|copyright",
    "university|universität|université|universidad|università|institut\\w*|faculty|fakultät|school|college|chair|lehrstuhl|group|gruppe|the|and|of|for|für|fax|tel|mobile|address|adresse|write|call|send|download|vcard|linkedin|xing|twitter|facebook|instagram|profile?|details|partners|associates|board|staff|people|leadership|management|members",
  ].join("|")})(?=$|[\\s:./-])`,
  "iu",
);
/** Abbreviations before two words at least, in any language, but not those of given names. */
const TITLES_BEFORE =
  /^(?:(?!(?:chr|joh|jos|th|wm|alex|geo|aug)\.)\p{L}{2,6}\.(?:ssa|ra|in|a)?[\s-]*|(?:tri|dra|profa|pr) )+(?=\S+\s+\S)/iu;
const NO_NAME_OF_ASIA =
  /教授|部長|課長|社長|代表|取締役|秘書|担当|弁護士|主任|係長|経理|営業|広報|人事|総務|研究員|講師|助教|准|エンジニア|マネージャー|部門|合わせ|经理|总监|主管|律师|工程师|联系|我们|연락|대표|이사|부장|과장|팀장|교수|변호사|会社/;
export const EAST_ASIAN =
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}ー々・\s]+$/u;

/** A name with the first name first; `null` for a text that is not the name of a person. */
export function personName(text: string, isFamilyFirst = false): PersonName | null {
  const written = text.replace(/^[\s"“'*•·,;:–—-]+|[\s"”'*•·,;:–—-]+$/g, "");
  const plain = written.replace(TITLES_BEFORE, "");
  if (plain.length > 80 || nameFault(plain) !== null || NO_NAME.test(plain) || NO_NAME_OF_ASIA.test(plain))
    return null;
  const name = parseFullName(plain);
  // `Nagy Anna Mária`, as Hungarian pages write it.
  if (!isFamilyFirst || name === null || /,|\p{Lu}{3}/u.test(plain) || EAST_ASIAN.test(plain)) return name;
  const [lastName = "", ...given] = `${name.firstName} ${name.lastName}`.split(" ");
  return { firstName: given.join(" "), lastName };
}

/** Whether each word is capitalised as in a name. */
export function isCapitalised(text: string): boolean {
  const words = text.trim().split(/\s+/);
  return (
    words.length <= 7 &&
    (words.length >= 2 || EAST_ASIAN.test(text)) &&
    words.every((word) => CAPITALISED.test(word) || PARTICLE.test(word))
  );
}

/** Whether a text is a known job title. */
export function isTitle(text: string): boolean {
  const { department, seniority } = classifyTitle(text.replace(TITLES_BEFORE, ""));
  return department !== null || seniority !== null;
}

/** A name of three words or more, divided as its address is: `carlos.reissantos`. */
export function fittedName(name: PersonName, local: string): PersonName {
  const words = `${name.firstName} ${name.lastName}`.split(" ");
  const wanted = partsOf(local).join(" ");
  for (let start = 0; words.length > 2 && start < words.length - 1; start++)
    for (let cut = start + 1; cut < words.length; cut++) {
      const [firstName, lastName] = [words.slice(start, cut).join(" "), words.slice(cut).join(" ")];
      const [first, last] = [normaliseName(firstName), normaliseName(lastName)];
      const initial = first.charAt(0);
      const pairs = [first, initial].flatMap((one) => [`${one} ${last}`, `${last} ${one}`]);
      const short = first.slice(0, 2) + last.slice(0, 2);
      if ([first, last, initial + last, last + initial, short, ...pairs].includes(wanted))
        return { firstName, lastName };
    }
  return name;
}

function partsOf(text: string): string[] {
  return text
    .replace(/\+.*/, "")
    .split(/[^\p{L}\p{M}]+/u)
    .map(normaliseName)
    .filter((part) => part !== "");
}

/** Whether a text behind a name is a degree or a suffix: `MBA`, `LL.M.` */
export function isDegree(text: string): boolean {
  return parseFullName(`Ada Lovelace, ${text}`)?.firstName === "Ada";
}

/** How well a name fits the part of an address before the @: 4 for a whole name, 2 for parts of names, -2 for another name, else 0. */
export function nameFit({ firstName, lastName }: PersonName, local: string): number {
  const [first, last] = [firstName, lastName].map(partsOf);
  const words = [...(first ?? []), ...(last ?? []), normaliseName(firstName), normaliseName(lastName)];
  const parts = partsOf(local);
  const whole = parts.join("");
  if (words.length === 2 || whole === "") return 0;
  if (
    words.some(
      (word) => (word.length > 2 && whole.includes(word)) || (word.length > 1 && parts.includes(word)),
    )
  )
    return 4;
  const isMade = (one: readonly string[], other: readonly string[]) =>
    one.some((start) =>
      other.some((end) => {
        for (let cut = 1; cut < whole.length; cut++)
          if (start.startsWith(whole.slice(0, cut)) && end.startsWith(whole.slice(cut))) return true;
        return false;
      }),
    );
  if (isMade(first ?? [], last ?? []) || isMade(last ?? [], first ?? [])) return 2;
  // `anna.nagy` is no one else's.
  return parts.length > 1 && parts.every((part) => part.length > 2) && /\p{Script=Latin}/u.test(lastName)
    ? -2
    : 0;
}
