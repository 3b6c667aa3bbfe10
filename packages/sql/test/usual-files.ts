import { A, B, entries, type Person, table, type UsualFile, written } from "./usual-file.ts";

const PROFILE = "https://www.linkedin.com/in/ann";

export const USUAL_FILES: Readonly<Record<string, UsualFile>> = {
  HubSpot: {
    hasMark: true,
    text: table(
      "Record ID,First Name,Last Name,Email,Phone Number,Contact owner,Job Title,Company Name,Associated Company,Website URL,LinkedIn URL,Street Address",
      `1,%F,%L,%E,+44 20 7946 0000,Bob,%P,%O,%O,https://acme.example,${PROFILE},1 Main St`,
    ),
    phones: ["+44 20 7946 0000", "+44 20 7946 0000"],
    profile: PROFILE,
  },
  "a Salesforce report": {
    encoding: "windows-1252",
    text: table(
      "Salutation,First Name,Last Name,Title,Account Name,Mailing Street,Mailing City,Phone,Mobile,Fax,Email,Account Owner",
      'Ms.,%F,%L,%P,%O,"1 Main St\nFloor 2",London,(020) 7946-0000,,,%E,Bob',
    ),
    phones: ["(020) 7946-0000", "(020) 7946-0000"],
  },
  Outlook: {
    text: table(
      "First Name,Middle Name,Last Name,Title,Suffix,E-mail Address,E-mail 2 Address,E-mail 3 Address,Home Phone,Business Phone,Business Phone 2,Mobile Phone,Job Title,Department,Company,Web Page",
      "%F,,%L,Mrs.,,%E,ann@private.example,,+1 1,+44 20 7946 0000,,+44 7700 900000,%P,Analysis,%O,https://acme.example",
    ),
    phones: ["+44 20 7946 0000", "+44 20 7946 0000"],
  },
  "an older Outlook": {
    encoding: "windows-1252",
    text: table(
      "First Name,Last Name,Title,E-mail Address,Business Phone,Job Title,Company",
      "%F,%L,,%E,,%P,%O",
    ),
  },
  "Outlook in German": {
    encoding: "windows-1252",
    text: table(
      "Anrede,Vorname,Nachname,E-Mail-Adresse,Firma,Position,Telefon geschäftlich,Mobiltelefon,Telefon privat",
      "Frau,%F,%L,%E,%O,%P,+49 30 1,+49 170 2,+49 40 3",
      ";",
    ),
    phones: ["+49 30 1", "+49 30 1"],
  },
  "Outlook in French": {
    text: table(
      "Titre,Prénom,Nom,Adresse de messagerie,Société,Fonction,Tél. mobile,Téléphone (bureau)",
      "Mme,%F,%L,%E,%O,%P,+33 6,+33 1",
      ";",
    ),
    phones: ["+33 1", "+33 1"],
  },
  "Outlook in Spanish": {
    encoding: "utf-16le",
    hasMark: true,
    text: table(
      "Nombre,Apellidos,Dirección de correo electrónico,Organización,Cargo,Teléfono del trabajo",
      "%F,%L,%E,%O,%P,+34 91",
      "\t",
    ),
    phones: ["+34 91", "+34 91"],
  },
  Google: {
    text: table(
      "First Name,Last Name,Name Prefix,Organization Name,Organization Title,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Label,E-mail 2 - Value,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value",
      "%F,%L,Dr.,%O,%P,* Work,%E,Other,ann@private.example,Mobile,+44 77,Work,+44 20 7946 0000",
    ),
    phones: ["+44 20 7946 0000", "+44 20 7946 0000"],
  },
  "an older Google": {
    encoding: "utf-16le",
    hasMark: true,
    text: table(
      "Name,Given Name,Additional Name,Family Name,E-mail 1 - Type,E-mail 1 - Value,Phone 1 - Type,Phone 1 - Value,Organization 1 - Type,Organization 1 - Name,Organization 1 - Title",
      "%F %L,%F,,%L,* Work,%E ::: ann@private.example,Work,+44 1 ::: +44 2,,%O,%P",
    ),
    phones: ["+44 1", "+44 1"],
  },
  LinkedIn: {
    text: table(
      "First Name,Last Name,URL,Email Address,Company,Position,Connected On",
      `%F,%L,${PROFILE},%E,%O,%P,12 Jan 2026`,
      ",",
      'Notes:\r\n"When exporting your connection data, you may notice, that some, ""all"", are missing."\r\n\r\n',
    ),
    profile: PROFILE,
  },
  Apollo: {
    text: table(
      "First Name,Last Name,Title,Company,Company Name for Emails,Email,Email Status,Seniority,Departments,Work Direct Phone,Mobile Phone,Corporate Phone,Person Linkedin Url,Website,Company Linkedin Url,Company Address",
      '%F,%L,%P,%O,Acme,%E,Verified,C suite,"C-Suite\\, Operations",+1 555 0100,+1 555 0101,+1 555 0102,http://www.linkedin.com/in/ann,http://acme.example,http://www.linkedin.com/company/acme,1 Main St',
    ),
    phones: ["+1 555 0100", "+1 555 0100"],
    profile: "http://www.linkedin.com/in/ann",
    status: "valid",
  },
  Hunter: {
    text: table(
      "Email address,Domain name,Organization,Type,Confidence score,First name,Last name,Department,Position,Twitter handle,LinkedIn URL,Phone number,Verification status,Verification date,Source 1 URI",
      `%E,acme.example,%O,Personal,94,%F,%L,Executive,%P,@ann,${PROFILE},+44,Valid,2026-01-01,https://acme.example/team`,
    ),
    phones: ["+44", "+44"],
    profile: PROFILE,
    handle: "@ann",
    status: "valid",
    confidence: 94,
  },
  "Excel in German": {
    hasMark: true,
    text: table("E-Mail,Vorname,Nachname,Firma,Position", "%E,%F,%L,%O,%P", ";"),
  },
  "Excel with a named separator": {
    text: table("E-Mail,Vorname,Name,Unternehmen,Funktion", "%E,%F,%L,%O,%P\r\n,,,,", ";", "sep=;\r\n"),
  },
  "Excel as Unicode text": {
    encoding: "utf-16be",
    hasMark: true,
    text: table(
      "Email,First Name,Last Name,Company,Role",
      "%E,%F,%L,%O,%P",
      "\t",
      "Contacts of 2026\r\n\r\n",
    ),
  },
  "Thunderbird in German": {
    text: table(
      "Vorname,Nachname,Anzeigename,Spitzname,Primäre E-Mail-Adresse,Sekundäre E-Mail-Adresse,Tel. privat,Tel. dienstlich,Mobil-Tel.-Nr.,Arbeitstitel,Berufsbezeichnung,Organisation",
      "%F,%L,%F %L,,%E,ann@private.example,1,+49 2,3,,%P,%O",
    ),
    phones: ["+49 2", "+49 2"],
  },
  "Thunderbird in French": {
    encoding: "windows-1252",
    text: table(
      "Prénom,Nom de famille,Nom à afficher,Adresse électronique secondaire,Première adresse électronique,Tél. professionnel,Portable,Fonction,Société",
      "%F,%L,%F %L,ann@private.example,%E,+33 2,3,%P,%O",
    ),
    phones: ["+33 2", "+33 2"],
  },
  Pipedrive: {
    text: table(
      "Person - Name,Person - Organization,Person - Email - Home,Person - Email - Work,Person - Phone - Mobile,Person - Phone - Work,Person - Job title,Person - Owner",
      "%F %L,%O,ann@private.example,%E,+1 3,+1 2,%P,Bob",
    ),
    phones: ["+1 2", "+1 2"],
  },
  Zoho: {
    text: table(
      "Record Id,Lead Source,First Name,Last Name,Account Name,Title,Email,Phone,Mobile,Home Phone,Secondary Email,Twitter",
      "1,Trade fair,%F,%L,%O,%P,%E,,+1 3,+1 4,ann@private.example,https://x.com/ann",
    ),
    phones: ["+1 3", "+1 3"],
    handle: "@ann",
  },
  RocketReach: {
    text: table(
      "Name,Current Title,Current Employer,Recommended Email,Personal Email,LinkedIn,Office Phone",
      `%F %L,%P,%O,%E,ann@private.example,linkedin.com/in/ann,+1 9`,
    ),
    phones: ["+1 9", "+1 9"],
    profile: PROFILE.replace("www.", ""),
  },
  ZoomInfo: {
    encoding: "utf-16le",
    hasMark: true,
    text: table(
      "Last Name,First Name,Job Title,Direct Phone Number,Company HQ Phone,Mobile phone,Email Address,Supplemental Email,LinkedIn Contact Profile URL,Contact Accuracy Score,Company Name",
      `%L,%F,%P,+1 8,+1 1,+1 2,%E,ann@private.example,${PROFILE},94%,%O`,
    ),
    phones: ["+1 8", "+1 8"],
    profile: PROFILE,
    confidence: 94,
  },
  Snov: {
    text: table("Full name,Job position,Company name,Email,Email status", "%F %L,%P,%O,%E,accept_all"),
    status: "accept_all",
  },
  Lusha: {
    text: table(
      "First name,Last name,Company,Job title,Private email,Work email,Direct phone,Mobile phone",
      "%F,%L,%O,%P,ann@private.example,%E,,+1 7",
    ),
    phones: ["+1 7", "+1 7"],
  },
  "Brevo in French": {
    text: table("EMAIL,NOM,PRENOM,SMS,ENTREPRISE,POSTE", "%E,%L,%F,33612345678,%O,%P", ";"),
    phones: ["33612345678", "33612345678"],
  },
  "vCard 3.0": {
    text: entries([
      "BEGIN:VCARD",
      "VERSION:3.0",
      "N:%L;%F;;;",
      "FN:%F %L",
      "ORG:%O;Sales",
      "TITLE:%P",
      "EMAIL;TYPE=INTERNET,HOME:ann@private.example",
      "EMAIL;TYPE=INTERNET,WORK:%E",
      "TEL;TYPE=CELL:+1 3",
      "TEL;TYPE=WORK,FAX:+1 9",
      "TEL;TYPE=WORK,VOICE:+1 2",
      "PHOTO;ENCODING=b;TYPE=JPEG:AAAA",
      ` ${"A".repeat(30_000)}`,
      "X-SOCIALPROFILE;type=twitter:https://twitter.com/ann",
      "END:VCARD",
    ]),
    phones: ["+1 2", "+1 2"],
    handle: "@ann",
  },
  "vCard 4.0": {
    text: entries([
      "BEGIN:VCARD",
      "VERSION:4.0",
      "FN:%F %L",
      "N:%L;%F;;;",
      "item1.EMAIL;PREF=2:mailto:ann@private.example",
      "item2.EMAIL;TYPE=home;PREF=1:%E",
      "ORG:%O",
      "TITLE:%P",
      'TEL;VALUE=uri;TYPE="voice,work":tel:+1-2',
      `URL:${PROFILE}`,
      "END:VCARD",
    ]).replaceAll("ORG:Acme Ltd", "ORG:Acm\r\n e Ltd"),
    phones: ["+1-2", "+1-2"],
    profile: PROFILE,
  },
  "vCard 2.1": {
    text: [
      ["Best;Ann", A],
      ["Gro=C3=9F;J=C3=B6=\r\nrg", B],
    ]
      .map(([name, person]) =>
        written(
          `BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:${name}\r\nEMAIL;INTERNET:%E\r\nTITLE:%P\r\nORG:%O\r\nEND:VCARD\r\n`,
          person as Person,
        ),
      )
      .join("\r\n"),
  },
};
