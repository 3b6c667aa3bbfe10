import type { Language } from "./language.ts";

export const WESTERN: readonly Language[] = [
  {
    code: "en",
    places: [
      ["co.uk", "GB", "en_GB"],
      ["us", "US", "en_US"],
      ["ie", "IE", "en_IE"],
      ["com", "US", "en_US"],
      ["ac.uk", "GB", "en_GB"],
      ["com.au", "AU", "en_AU"],
    ],
    words:
      "Name|First name|Last name|Position|Email|Phone|Fax|Room|Home|Our team|Contact us|Legal notice|News",
    titles:
      "Managing Director|Head of Sales|Senior Project Manager|Software Engineer|Office Manager|Associate Professor|Marketing Director|Research Fellow|Chief Financial Officer|Partner, Corporate Law|Account Manager|Data Protection Officer|HR Business Partner|Customer Support Lead",
    honorifics: "Dr|Prof.|Dr.|Ms|Mr",
    degrees: "PhD|MBA|Ph.D.|Esq.|CPA",
    filler:
      "We have been working with clients across the region since 1987.|Every project starts with a conversation.|Our office is open from Monday to Friday.|Read more about how we work and what drives us.",
    departments: "Sales|Customer Service|Finance Department|Admissions Office|Facilities",
    particles: "van|de",
  },
  {
    code: "de",
    places: [
      ["de", "DE", "de"],
      ["at", "AT", "de_AT"],
      ["ch", "CH", "de_CH"],
    ],
    words:
      "Name|Vorname|Nachname|Funktion|E-Mail|Telefon|Fax|Raum|Startseite|Team|Kontakt|Impressum|Aktuelles",
    titles:
      "Geschäftsführerin|Leiter Vertrieb|Wissenschaftliche Mitarbeiterin|Projektleiter|Steuerberaterin|Rechtsanwalt|Sekretariat der Geschäftsleitung|Datenschutzbeauftragter|Leiterin Personal|Buchhaltung|Vertriebsinnendienst|Professorin für Werkstoffkunde|Fachanwältin für Arbeitsrecht|Ausbildungsleiter",
    honorifics: "Dr.|Prof. Dr.|Dipl.-Ing.|Frau|Herr|Dr. med.|Prof. Dr.-Ing.",
    degrees: "LL.M.|MBA|M.Sc.|M.A.",
    filler:
      "Seit über dreißig Jahren begleiten wir Unternehmen der Region.|Unsere Bürozeiten sind von Montag bis Freitag.|Wir freuen uns auf Ihre Nachricht.|Qualität entsteht aus Erfahrung und Neugier.",
    departments: "Vertrieb|Kundendienst|Buchhaltung|Prüfungsamt|Abteilung Einkauf",
    particles: "von|von der",
  },
  {
    code: "fr",
    places: [
      ["fr", "FR", "fr"],
      ["be", "BE", "fr_BE"],
      ["ch", "CH", "fr_CH"],
    ],
    words:
      "Nom|Prénom|Nom de famille|Fonction|Courriel|Téléphone|Fax|Bureau|Accueil|Équipe|Contact|Mentions légales|Actualités",
    titles:
      "Directrice générale|Responsable commercial|Chargée de communication|Maître de conférences|Avocat associé|Chef de projet|Assistante de direction|Directeur financier|Ingénieur d'études|Responsable des ressources humaines|Expert-comptable|Secrétaire pédagogique",
    honorifics: "M.|Mme|Dr|Me|Pr",
    filler:
      "Depuis plus de trente ans, nous accompagnons les entreprises de la région.|Nos bureaux sont ouverts du lundi au vendredi.|Découvrez nos métiers et nos engagements.",
    departments: "Service commercial|Comptabilité|Service clientèle|Scolarité",
    particles: "de|du|de la",
  },
  {
    code: "es",
    places: [
      ["es", "ES", "es"],
      ["mx", "MX", "es_MX"],
    ],
    words:
      "Nombre|Nombre de pila|Apellidos|Cargo|Correo electrónico|Teléfono|Fax|Despacho|Inicio|Equipo|Contacto|Aviso legal|Noticias",
    titles:
      "Directora general|Jefe de ventas|Profesora titular|Abogado|Responsable de marketing|Gerente de proyectos|Contable|Secretaria académica|Director financiero|Ingeniera de sistemas|Jefa de recursos humanos|Atención al cliente",
    honorifics: "Dra.|Dr.|D.|Dña.|Sr.|Sra.",
    filler:
      "Llevamos más de treinta años al servicio de nuestros clientes.|Nuestro horario es de lunes a viernes.|Conozca nuestro trabajo y nuestros valores.",
    departments: "Departamento de ventas|Administración|Atención al cliente|Secretaría",
    isDouble: true,
    particles: "de|de la|del",
  },
  {
    code: "it",
    places: [["it", "IT", "it"]],
    words:
      "Nome e cognome|Nome|Cognome|Ruolo|E-mail|Telefono|Fax|Stanza|Home|Il nostro team|Contatti|Note legali|Notizie",
    titles:
      "Amministratore delegato|Responsabile commerciale|Professore associato|Avvocato|Direttrice marketing|Ingegnere capo|Ragioniera|Segreteria didattica|Responsabile risorse umane|Commercialista|Assistente di direzione|Ricercatrice",
    honorifics: "Dott.|Dott.ssa|Avv.|Ing.|Prof.|Prof.ssa",
    filler:
      "Da oltre trent'anni accompagniamo le imprese del territorio.|I nostri uffici sono aperti dal lunedì al venerdì.|Scopri il nostro metodo di lavoro.",
    departments: "Ufficio vendite|Amministrazione|Assistenza clienti|Ufficio stampa",
    particles: "di|de|della",
  },
  {
    code: "pt",
    places: [
      ["com.br", "BR", "pt_BR"],
      ["pt", "PT", "pt_PT"],
    ],
    words:
      "Nome|Primeiro nome|Sobrenome|Cargo|E-mail|Telefone|Fax|Sala|Início|Equipe|Contato|Informações legais|Notícias",
    titles:
      "Diretora executiva|Gerente de vendas|Professor titular|Advogada|Coordenador de projetos|Analista de sistemas|Diretor financeiro|Secretária executiva|Gerente de recursos humanos|Engenheiro civil|Assessora de imprensa|Contador",
    honorifics: "Dr.|Dra.|Prof.|Profa.|Sr.|Sra.",
    filler:
      "Há mais de trinta anos ao lado dos nossos clientes.|Nosso escritório funciona de segunda a sexta-feira.|Conheça nosso trabalho e nossos valores.",
    departments: "Departamento comercial|Financeiro|Atendimento ao cliente|Secretaria acadêmica",
    isDouble: true,
    particles: "da|dos|de",
  },
];
