/** What a label or a heading of a table announces. */
export type Kind = "name" | "firstName" | "lastName" | "position" | "phone" | "mobile" | "email" | "other";

/** Labels in lower case without accents. The first kind counts. */
const LABELS: readonly (readonly [Kind, string])[] = [
  [
    "name",
    "first and last name|vor und nachname|nom et prenom|prenom et nom|nombre y apellidos?|nome e cognome|cognome e nome|imie i nazwisko|nazwisko i imie|jmeno a prijmeni|nume si prenume|ad[ıi]?(?: ve)? soyad[ıi]?|ονοματεπωνυμο",
  ],
  ["other", "(?:tele)?fax|(?:tele)?faks[ia]?|telecopie(?:ur)?|факс|φαξ|传真|傳真|팩스|ファックス|ファクス|f"],
  [
    "email",
    "e ?mail|mail|courriel|mel|correo(?: electronico)?|e ?posta|e ?post|posta elettronica|poczta|sahkoposti|(?:эл\\p{L}*|ел\\p{L}*)? ?(?:почта|пошта)|邮箱|電郵|邮件|(?:電子)?メール(?:アドレス)?|이메일|e",
  ],
  [
    "mobile",
    "mobile?|mobil\\p{L}*|mobiel|handy\\p{L}*|cell(?:ulare?|phone)?|(?:telephone )?portable|gsm|(?:telefono )?movil|celular|(?:tel\\p{L}* )?komork\\p{L}*|matkapuhelin|cep(?: telefonu)?|моб\\p{L}*|携帯(?:電話)?|手机|手機|휴대\\p{L}*|κινητο|m",
  ],
  [
    "phone",
    "tel|telef\\p{L}*|teleph\\p{L}*|phone|fon|fono|puh|puhelin\\p{L}*|durchwahl|direct (?:line|dial)|direct|call|τηλ\\p{L}*|тел|телеф\\p{L}*|電話(?:番号)?|电话|전화(?:번호)?|t|p|☎|📞|✆|☏",
  ],
  [
    "firstName",
    "(?:first|given|fore) ?names?|vornamen?|prenom|primer nombre|nombre de pila|nombres|primeiro nome|voornaam|roepnaam|fornamn|fornavn|etunimi|imie|jmeno|krstne meno|keresztnev|utonev|prenume|ad[ıi]?|ονομα|имя|ім я|名|이름",
  ],
  [
    "lastName",
    "(?:last|family|sur) ?names?|nachnamen?|familiennamen?|zuname|nom de famille|(?:primer )?apellidos?|cognome|sobrenome|apelido|achternaam|familienaam|efternamn|efternavn|etternavn|sukunimi|nazwisko|prijmeni|priezvisko|vezeteknev|csaladnev|nume|soyad[ıi]?|επωνυμο|επιθετο|фамилия|прізвище|姓|성",
  ],
  [
    "name",
    "(?:full )?names?|(?:vollstandiger )?namen?|nom|nombre|nome|naam|namn|navn|nimi|nev|фио|піб|氏名|お名前|名前|姓名|성명|담당자|担当者?|ansprechpartner(?:in)?|kontaktperson|contact person|mitarbeiter(?:in|innen)?|person|people|employees?|staff|faculty|members?|referente|interlocut\\p{L}*",
  ],
  [
    "position",
    "(?:job |working )?(?:title|position)|roles?|job|function|funktion(?:en)?|fonction|funcion|functie|functia|funcao|funkc[eij]a?|cargo|puesto|ruolo|qualifica|mansione|befattning|titel|titolo|titulo|titre|stilling|tittel|tehtava|nimike|stanowisko|pozice|pozycja|beosztas|munkakor|unvan[ıi]?|gorev[ıi]?|θεση|ιδιοτητα|должность|посада|役職|職位|职位|職務|职务|직책|직위|직급|poste|profession|beruf|aufgabe(?:ngebiet)?|tatigkeit|designation|occupation|responsibilities",
  ],
  [
    "other",
    "room|office|raum|zimmer|buro|bureau|despacho|stanza|ufficio|sala|kamer|rum|lokale|rom|huone|pokoj|mistnost|szoba|birou|oda|γραφειο|кабинет|кабінет|部屋|addresse?|adresse?|anschrift|direccion|indirizzo|website|web|homepage|www|department|abteilung|fachbereich|bereich|departement|dept|(?:office )?hours|sprechzeit(?:en)?|sprechstunden?|linkedin|xing|twitter|social|skype|orcid|profile?|photo|foto|bild|image|picture",
  ],
];
/** Words behind a label: `Telefonnummer`, `E-Mail-Adresse`, `Nume și prenume`. */
const MORE =
  "nr|no|n|number|nummer|numer|numero|adresse?|address|adres|line|work|office|buro|geschaft\\p{L}*|dienst\\p{L}*|privat|zentrale|direkt|oficina|ufficio|bureau|professionnel|and|und|et|y|e|si|och|og|i|a|ve|και|и|та|nachname|surname|prenom|apellidos?|cognome|nazwisko|prenume|sobrenome";
const LABEL = new RegExp(
  `^(?:${LABELS.map(([, words]) => `(${words})`).join("|")})(?: (?:${MORE})|nr|nummer|number|adresse?){0,2}$`,
  "u",
);
const MAX_LABEL = 32;

/** The kind of a label such as `E-Mail:`, `Tel.`, `Job title`; `null` for another text. */
export function labelKind(text: string): Kind | null {
  if (text.length > MAX_LABEL || /[\d@]/.test(text)) return null;
  const accentless = text.normalize("NFD").replaceAll(/(?<=[\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu, "");
  const folded = accentless
    .normalize("NFC")
    .toLowerCase()
    .replaceAll("ł", "l")
    .replaceAll(/[^\p{L}\p{So}]+/gu, " ")
    .trim();
  const group = LABEL.exec(folded)?.findIndex((words, index) => index > 0 && words !== undefined) ?? 0;
  return LABELS[group - 1]?.[0] ?? null;
}

/** Properties of microdata, and classes of microformats. */
const ITEMS: readonly (readonly [Kind, string])[] = [
  ["name", "name fn p-name"],
  ["firstName", "givenname given-name p-given-name"],
  ["lastName", "familyname family-name p-family-name"],
  ["position", "jobtitle hasoccupation p-job-title p-role"],
  ["phone", "telephone tel p-tel"],
  ["email", "email"],
  ["other", "faxnumber p-org organization-name"],
];
const KIND_OF_ITEM = new Map(ITEMS.flatMap(([kind, words]) => words.split(" ").map((word) => [word, kind])));

/** What microdata and the class names of a microformat announce; `null` without a known one. */
export function attributeKind(attributes: ReadonlyMap<string, string>, isInItem: boolean): Kind | null {
  const item = attributes.get("itemprop") ?? attributes.get("property") ?? "";
  const classes = attributes.get("class") ?? "";
  if (item === "" && classes === "") return null;
  for (const word of `${item.replace(/^\w+:/, "")} ${classes}`.toLowerCase().split(/\s+/)) {
    const kind = KIND_OF_ITEM.get(word);
    if (kind !== undefined) return kind;
    if (isInItem && (word === "title" || word === "role")) return "position";
    if (isInItem && word === "org") return "other";
  }
  return null;
}
