/**
 * Roles that have their own address, in lower case and without separators. English first, then other
 * languages.
 */
export const ROLE_NAMES: ReadonlySet<string> = new Set(
  [
    // Names of RFC 2142, and senders of automatic mail.
    "abuse hostmaster postmaster webmaster usenet www ftp root noc security noreply donotreply mailerdaemon daemon bounce bounces",
    "admin administrator sysadmin it itsupport tech technical dev devops engineering developer developers developerrelations api",
    "info information infos contact contacts contactus hello hi hey mail email mailbox inbox post team office reception frontdesk",
    "enquiry enquiries inquiry inquiries general feedback suggestions complaints request requests ask askus welcome all everyone staff",
    "sales presales salesteam orders order ordering shop store purchasing procurement quote quotes rfq buy export exports",
    "support help helpdesk helpme service services customer customers customercare customerservice customersupport clientservices care",
    "billing invoice invoices invoicing accounts accounting accountspayable accountsreceivable payable payables finance payments payroll treasury",
    "hr humanresources people jobs job careers career recruiting recruitment hiring talent resumes cv apply applications",
    "marketing pr press media newsroom news newsletter newsletters communications comms advertising ads events event partners partner",
    "partnerships affiliate affiliates community social sponsorship investors investor ir legal compliance privacy gdpr dpo copyright dmca",
    "management board ceo cfo cto coo directors secretary secretariat operations logistics shipping warehouse dispatch",
    "bookings booking reservations reservation registration register subscribe unsubscribe alerts notifications notification system test",
    "library admissions alumni facilities studio design web website editor editorial submissions returns warranty repairs emergency",
    // German.
    "kontakt anfrage anfragen buero vertrieb verkauf einkauf bestellung bestellungen rechnung rechnungen buchhaltung personal bewerbung",
    "bewerbungen karriere presse datenschutz zentrale sekretariat empfang kundenservice kundendienst geschaeftsfuehrung vorstand redaktion technik",
    // French.
    "bonjour contacter accueil commercial ventes vente commande commandes achats comptabilite facturation facture rh recrutement emploi",
    "communication juridique direction secretariatgeneral serviceclient sav assistance",
    // Spanish and Portuguese.
    "contacto contato hola ventas vendas comercial compras facturacion contabilidad administracion administracao financeiro soporte suporte",
    "atencion atencionalcliente atendimento clientes empleo rrhh recursoshumanos prensa imprensa reservas oficina pedidos",
    // Italian, Dutch, Polish, Nordic.
    "informazioni contatti vendite acquisti amministrazione ufficio ufficiostampa segreteria prenotazioni assistenza fatturazione",
    "verkoop inkoop administratie klantenservice vacatures boekhouding biuro kontakty sprzedaz ksiegowosc rekrutacja kadry",
    "salg kundeservice bokhaldning ekonomi forsaljning myynti toimisto asiakaspalvelu",
  ].flatMap((line) => line.split(" ")),
);

/**
 * The {@link ROLE_NAMES} that are also personal names or initials, or that stand before surnames. With another word after them they count
 * only if that word is a {@link QUALIFIERS qualifier} or a role itself.
 */
export const ALSO_PERSONAL: ReadonlySet<string> = new Set(
  [
    "sales hi hey it hr pr ir cv rh dev api ads www ftp noc all personal post press shop store care root board news test",
    // Before a surname they are the account of a person: `admin.smith`.
    "admin administrator sysadmin team staff developer secretary",
  ].flatMap((line) => line.split(" ")),
);

/** Words next to a role that do not name a person: places, audiences, articles. */
export const QUALIFIERS: ReadonlySet<string> = new Set(
  [
    "at au be br ca ch cn cz de dk es eu fi fr hu ie in it jp kr lu mx nl no nz pl pt ro ru se sg tr ua uk us usa za",
    "emea apac latam dach benelux nordics europe asia africa america americas global worldwide international intl national regional local",
    "north south east west central online digital corporate corp group hq main general public internal external my our the new web",
    "b2b b2c direct team desk dept department center centre manager customer client technical email mail reply",
    "berlin london paris madrid munich muenchen hamburg wien zurich zuerich vienna amsterdam brussels dublin nyc newyork tokyo sydney",
  ].flatMap((line) => line.split(" ")),
);
