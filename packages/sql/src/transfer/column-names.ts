import { isSalutation, profileHandle, profileUrl } from "@outrigger/core/lookup";
import { CONTACT_FIELDS, type ContactField } from "./contact-fields.ts";

/** A field that a column may give. */
export interface Meaning {
  field: ContactField;
  /** The lowest of the filled columns of a field gives its value. */
  rank: number;
  /** The value in a text of the column; `undefined` if it is not of this field. */
  read?: ((text: string) => string | undefined) | undefined;
}

/** First rank of everyday words. Such a column often means something else, so it comes last. */
export const EVERYDAY = 1_000_000;

const WORK =
  "work business office direct workdirect directdial professional geschaftlich geschaftliche dienstlich dienstliche arbeit buro " +
  "bureau professionnel professionnelle pro trabajo deltrabajo laboral oficina";
const MAIN = "primary main preferred recommended primare haupt premiere principale principal";
const OTHER =
  "home private personal other secondary alternate alternative additional tertiary supplemental privat private sekundare perso " +
  "personnel personnelle domicile secondaire autre particular casa privado secundario prive";
const MAILS =
  "email emailaddress mail mailaddress emailadresse mailadresse adressemail adresseemail adressedemessagerie courriel " +
  "adresseelectronique adressedecourriel correo correoelectronico direcciondecorreo direcciondecorreoelectronico";
const MOBILE = "mobile mobil cell cellular handy movil portable celular";
const PHONES =
  "phone phonenumber telephone telephonenumber telefon telefonnummer tel telnr numerodetelephone telefono numerodetelefono";

/** Both orders of a kind and a thing: `work phone`, `Telefon geschäftlich`. */
function combined(kinds: string, things: string): string {
  const ends = things.split(" ");
  return kinds
    .split(" ")
    .flatMap((kind) => ends.map((thing) => `${kind}${thing} ${thing}${kind}`))
    .join(" ");
}

/**
 * Names of columns of mail programs, address books and sales databases in English, German, French and Spanish, in letters without
 * accents, after the field and their rank. A field's own name has rank 0; `+` marks everyday words.
 */
const NAMES = `
address 0 email emailaddress
address 1 ${MAILS} emailvalue ${combined(MAIN, MAILS)}
address 2 ${combined(WORK, MAILS)}
address 20 ${combined(OTHER, MAILS)}
address 1+ value
firstName 1 givenname forename vorname rufname prenom nombredepila primernombre fname
firstName 0+ first
lastName 1 surname familyname nachname familienname nomdefamille apellido apellidos primerapellido lname
lastName 0+ last sn
fullName 0 prenometnom vorundnachname nombreyapellidos firstandlastname nomcomplet nombrecompleto vollstandigername
fullName 1 name nom nombre
fullName 2 displayname contactperson ansprechpartner anzeigename nomaafficher nombreparamostrar
fullName 0+ cn fn
position 1 jobtitle jobposition organizationtitle currenttitle currentposition berufsbezeichnung stellenbezeichnung jobtitel funktion
position 1 fonction poste intituleduposte cargo puesto puestodetrabajo
position 2 role rolle profession beruf profesion jobrole
position 0+ title titel titre titulo
phoneNumber 1 ${combined(WORK, PHONES)} worknumber directnumber
phoneNumber 2 ${PHONES} phonevalue ndetelephone
phoneNumber 3 ${combined(MOBILE, PHONES)} ${MOBILE} mobilenumber cellphone handynummer numerodemovil sms
phoneNumber 4 ${combined("corporate company companyhq hq main primary", PHONES)}
phoneNumber 5 ${combined(OTHER, PHONES)}
organization 0 organisation
organization 1 company companyname accountname accountaccountname organizationname organisationname employer currentcompany
organization 1 currentemployer firma firmenname unternehmen societe entreprise raisonsociale nomdelentreprise nomdelasociete
organization 1 empresa nombredelaempresa organizacion compania
organization 2 associatedcompany
organization 0+ o org account
domain 1 domainname companydomain companydomainname
confidence 1 confidencescore emailconfidence emailconfidencescore contactaccuracyscore
verificationStatus 1 emailstatus emailverificationstatus emailverification emailvalidationstatus
verificationStatus 2 verificationresult deliverability emaildeliverability statusemail
verificationDate 1 verifiedat lastverifiedat emailverifiedat emaillastverifiedat primaryemaillastverifiedat
networkA 1 linkedin linkedinhandle linkedinusername linkedinid
networkAUrl 1 linkedin linkedinurl linkedinlink linkedinprofile linkedinprofileurl linkedincontactprofileurl linkedinpublicprofile
networkAUrl 1 xing xingurl xingprofile
networkAUrl 0+ source url uri website webpage webseite siteweb sitioweb web homepage socialprofile xsocialprofile impp
networkB 1 twitter twitterhandle twitterusername twitterurl twitterprofile xtwitter twitterx xhandle xurl xprofile
networkB 0+ url uri website webpage webseite siteweb sitioweb web homepage socialprofile xsocialprofile impp
sourceUri 1 sourceurl
sourceUri 0+ source uri
sourceUri 1+ url`;

/** How the text of a field's other names is read. */
const READERS: Partial<Record<ContactField, (text: string, isEveryday: boolean) => string | undefined>> = {
  lastName: (text, isEveryday) => (isEveryday && /\d/.test(text) ? undefined : text),
  position: (text, isEveryday) => (isEveryday && isSalutation(text) ? undefined : text),
  networkA: (text) => (HANDLE.test(text) ? text : undefined),
  // A company's page is not a profile.
  networkAUrl: (text) => profileUrl(text) ?? undefined,
  networkB(text, isEveryday) {
    const handle = profileHandle(text) ?? (!isEveryday && HANDLE.test(text) ? text : undefined);
    return handle?.replace(/^@?/, "@");
  },
  sourceUri: (text, isEveryday) => (!isEveryday || isPage(text) ? text : undefined),
};

const HANDLE = /^@?[\p{L}\d_-]{2,100}$/u;
/** Networks of people. A link to one tells who a person is, not where the address was found. */
const NETWORKS =
  /(?:^|\.)(?:(?:linkedin|xing|viadeo|twitter|x|facebook|fb|instagram|tiktok|vk|weibo)\.com|threads\.(?:net|com)|bsky\.app|lnkd\.in|t\.me)$/i;

function isPage(text: string): boolean {
  const host = hostOfPage(text);
  return host !== null && !NETWORKS.test(host);
}

/** The host of an http(s) URL; `null` for any other text. */
export function hostOfPage(text: string): string | null {
  return /^https?:\/\//i.test(text) ? (urlOf(text)?.hostname ?? null) : null;
}

export function urlOf(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null; // Its syntax is wrong.
  }
}

const MEANINGS = new Map<string, Meaning[]>();
for (const field of CONTACT_FIELDS) {
  MEANINGS.set(field.toLowerCase(), [{ field, rank: field === "address" ? EVERYDAY : 0 }]);
}
for (const row of NAMES.trim().split("\n")) {
  const [, name, rank, everyday, names = ""] = /^(\w+) (\d+)(\+?) (.*)$/.exec(row) ?? [];
  const field = CONTACT_FIELDS.find((each) => each === name);
  if (field === undefined) continue;
  const read = READERS[field];
  const meaning = {
    field,
    rank: Number(rank) + (everyday ? EVERYDAY : 0),
    read: read && ((text: string) => read(text, everyday === "+")),
  };
  for (const each of names.split(" ")) {
    const known = MEANINGS.get(each) ?? [];
    // Of two rows with the same name the first counts.
    if (!known.some((other) => other.field === field)) MEANINGS.set(each, [...known, meaning]);
  }
}

/** A part of a name that says whose column it is: `Contact Email`, `Person - Phone`. Such a name comes later. */
const OWNER = /^(?:person|contact|lead|kontakt|contacto)(?=.)/;
const OWNER_STEP = 500;

/** The letters and digits of a column's name, in lower case. */
export function lettersOf(column: string): string {
  return column
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\d]/gu, "");
}

/** The fields that a name without numbers may mean; empty if it is unknown. */
export function meaningsOf(name: string): readonly Meaning[] {
  const folded = foldName(name);
  const known = MEANINGS.get(folded);
  const step = known === undefined ? OWNER_STEP : folded === name ? 0 : 1;
  const meanings = known ?? MEANINGS.get(folded.replace(OWNER, "")) ?? [];
  return meanings.map((each) => ({ ...each, rank: each.rank + step }));
}

/** Letters without accents: `telefongeschaftlich`, `prenom`. */
function foldName(letters: string): string {
  return letters.normalize("NFKD").replaceAll(/\p{M}/gu, "").replaceAll("ß", "ss");
}
