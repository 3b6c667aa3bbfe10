import type { Language } from "./language.ts";

export const NORTHERN: readonly Language[] = [
  {
    code: "nl",
    places: [
      ["nl", "NL", "nl"],
      ["be", "BE", "nl_BE"],
    ],
    words: "Naam|Voornaam|Achternaam|Functie|E-mail|Telefoon|Fax|Kamer|Home|Ons team|Contact|Colofon|Nieuws",
    titles:
      "Algemeen directeur|Hoofd verkoop|Universitair docent|Advocaat|Projectleider|Office manager|Financieel directeur|Communicatieadviseur|Manager personeelszaken|Onderzoeker|Notaris|Klantenservice medewerker",
    honorifics: "dr.|prof. dr.|ir.|mr.|drs.|Dhr.|Mevr.",
    degrees: "MSc|MBA",
    filler:
      "Al meer dan dertig jaar werken wij voor bedrijven in de regio.|Ons kantoor is geopend van maandag tot en met vrijdag.|Lees meer over onze werkwijze.",
    departments: "Verkoop|Klantenservice|Administratie|Studentenzaken",
    particles: "van|van der|de|van den|ter",
  },
  {
    code: "sv",
    places: [["se", "SE", "sv"]],
    words:
      "Namn|Förnamn|Efternamn|Befattning|E-post|Telefon|Fax|Rum|Hem|Medarbetare|Kontakta oss|Om webbplatsen|Nyheter",
    titles:
      "Verkställande direktör|Försäljningschef|Universitetslektor|Advokat|Projektledare|Ekonomichef|Kommunikatör|Personalchef|Systemutvecklare|Forskare|Kundtjänstmedarbetare|Redovisningskonsult",
    honorifics: "Dr|Prof.|Professor",
    filler:
      "I mer än trettio år har vi arbetat med företag i regionen.|Vårt kontor är öppet måndag till fredag.|Läs mer om hur vi arbetar.",
    departments: "Försäljning|Kundtjänst|Ekonomiavdelningen|Studentexpeditionen",
    particles: "af|von",
  },
  {
    code: "da",
    places: [["dk", "DK", "da"]],
    words:
      "Navn|Fornavn|Efternavn|Stilling|E-mail|Telefon|Fax|Lokale|Forside|Medarbejdere|Kontakt|Juridisk information|Nyheder",
    titles:
      "Administrerende direktør|Salgschef|Lektor|Advokat|Projektleder|Økonomichef|Kommunikationskonsulent|HR-chef|Softwareudvikler|Kontorassistent|Revisor|Kundekonsulent",
    honorifics: "Dr.|Prof.",
    filler:
      "I mere end tredive år har vi arbejdet for virksomheder i regionen.|Vores kontor har åbent mandag til fredag.|Læs mere om, hvordan vi arbejder.",
    departments: "Salg|Kundeservice|Økonomi|Studieadministrationen",
  },
  {
    code: "nb",
    places: [["no", "NO", "nb_NO"]],
    words:
      "Navn|Fornavn|Etternavn|Stilling|E-post|Telefon|Faks|Rom|Hjem|Ansatte|Kontakt oss|Personvern|Nyheter",
    titles:
      "Daglig leder|Salgssjef|Førsteamanuensis|Advokat|Prosjektleder|Økonomisjef|Kommunikasjonsrådgiver|HR-sjef|Systemutvikler|Kontormedarbeider|Regnskapsfører|Kundebehandler",
    honorifics: "Dr.|Prof.",
    filler:
      "I mer enn tretti år har vi jobbet for bedrifter i regionen.|Kontoret er åpent mandag til fredag.|Les mer om hvordan vi jobber.",
    departments: "Salg|Kundeservice|Økonomi|Studieadministrasjonen",
  },
  {
    code: "fi",
    places: [["fi", "FI", "fi"]],
    words:
      "Nimi|Etunimi|Sukunimi|Tehtävä|Sähköposti|Puhelin|Faksi|Huone|Etusivu|Henkilöstö|Yhteystiedot|Tietosuoja|Uutiset",
    titles:
      "Toimitusjohtaja|Myyntipäällikkö|Yliopistonlehtori|Asianajaja|Projektipäällikkö|Talousjohtaja|Viestintäasiantuntija|Henkilöstöpäällikkö|Ohjelmistosuunnittelija|Toimistosihteeri|Tutkija|Asiakaspalvelija",
    honorifics: "Tri|Prof.",
    filler:
      "Olemme palvelleet alueen yrityksiä yli kolmekymmentä vuotta.|Toimistomme on avoinna maanantaista perjantaihin.|Lue lisää toimintatavoistamme.",
    departments: "Myynti|Asiakaspalvelu|Talousosasto|Opintotoimisto",
  },
  {
    code: "pl",
    places: [["pl", "PL", "pl"]],
    words:
      "Imię i nazwisko|Imię|Nazwisko|Stanowisko|E-mail|Telefon|Faks|Pokój|Strona główna|Zespół|Kontakt|Nota prawna|Aktualności",
    titles:
      "Prezes zarządu|Kierownik działu sprzedaży|Adiunkt|Radca prawny|Kierownik projektu|Dyrektor finansowy|Specjalista ds. marketingu|Główna księgowa|Programista|Sekretarka|Rzecznik prasowy|Specjalista ds. kadr",
    honorifics: "dr|prof.|mgr|dr inż.|dr hab.|mgr inż.",
    degrees: "MBA",
    filler:
      "Od ponad trzydziestu lat współpracujemy z firmami w regionie.|Nasze biuro jest czynne od poniedziałku do piątku.|Dowiedz się więcej o naszej pracy.",
    departments: "Dział sprzedaży|Księgowość|Obsługa klienta|Dziekanat",
  },
  {
    code: "cs",
    places: [["cz", "CZ", "cs_CZ"]],
    words:
      "Jméno a příjmení|Jméno|Příjmení|Funkce|E-mail|Telefon|Fax|Místnost|Úvod|Náš tým|Kontakt|Právní informace|Aktuality",
    titles:
      "Jednatel společnosti|Vedoucí obchodu|Odborná asistentka|Advokát|Projektový manažer|Finanční ředitelka|Specialista marketingu|Účetní|Programátor|Asistentka ředitele|Tisková mluvčí|Personalistka",
    honorifics: "Ing.|Mgr.|prof.|doc.|Bc.|JUDr.",
    degrees: "Ph.D.|CSc.|MBA",
    filler:
      "Již více než třicet let spolupracujeme s firmami v regionu.|Naše kancelář je otevřena od pondělí do pátku.|Přečtěte si více o naší práci.",
    departments: "Obchodní oddělení|Účtárna|Zákaznický servis|Studijní oddělení",
  },
];
