import type { Seniority } from "../../contracts/contact-source.ts";
import type { WordRule } from "./word-rule.ts";

/** The first matching rule decides. */
export const SENIORITY_RULES: readonly WordRule<Seniority>[] = [
  {
    is: "junior",
    words: [
      "junior jr intern interns internship trainee trainees apprentice apprenticeship student graduate entry_level assistant_to",
      "working_student werkstudent* praktikant* auszubildende* azubi* volontar* lehrling* stagiaire* apprenti* alternant*",
      "becari* practicante* aprendiz* pasante* executive_assistant administrative_assistant personal_assistant phd_student",
      "assistent* assistante* asistente*",
    ].join(" "),
  },
  // Academic ranks, not ranks of a hierarchy.
  { is: "senior", words: "associate_professor associate_director senior_associate senior_lecturer" },
  { is: null, words: "assistant_professor" },
  {
    is: "junior",
    words: "associate_product_manager research_associate clinical_research_associate sales_associate",
  },
  // Vice presidents and deputy directors are still executives.
  { is: "executive", words: "vice_president vp svp evp avp vizeprasident*" },
  { is: "senior", words: "assistant_manager assistant_director" },
  { is: "junior", words: "assistant" },
  {
    is: "senior",
    words: "editor_in_chief chefredakteur* redacteur_en_chef head_nurse headmaster* head_teacher",
  },
  {
    is: "executive",
    words: [
      "chief ceo cfo cto cio coo cmo cpo cso chro cro cco ciso cdo clo founder cofounder co_founder owner proprietor president",
      "chairman chairwoman chairperson chair board managing_partner founding_partner general_partner equity_partner =partner",
      "director directors general_counsel dean rector chancellor",
      "geschaftsfuhr* geschaeftsfuehr* vorstand* vorsitz* inhaber* grunder* gesellschafter* prasident* aufsichtsrat* direktor*",
      "directeur* directrice* gerant* fondateur* fondatrice* presidente* pdg dg proprietaire*",
      "directora fundador* cofundador* socio_director dueno propietari* consejero*",
    ].join(" "),
  },
  { is: null, words: "lead_generation head_hunter" },
  {
    is: "senior",
    words: [
      "senior sr lead leader leads principal head supervisor superintendent oberarzt* chefarzt*",
      "staff_software* staff_engineer* staff_scientist* staff_data* staff_product* staff_design* staff_machine* staff_security*",
    ].join(" "),
  },
  // Managers without staff: of accounts, projects, products, offices.
  {
    is: null,
    words: [
      "account_manager project_manager product_manager program_manager programme_manager portfolio_manager office_manager",
      "customer_success_manager community_manager case_manager projektleit* projektmanager* produktmanager* chef_de_projet",
      "chef_de_produit jefe_de_proyecto jefa_de_proyecto jefe_de_producto gestor_de_proyecto*",
    ].join(" "),
  },
  {
    is: "senior",
    words: [
      "manager managers managerin management_team foreman partner_in_charge professor professeur* profesor* professorin",
      "*leiter leiter* *leiterin *leitung leitend* teamleit* prokurist* chef_de chef_du responsable* jefe jefa gerente* encargad* supervisor*",
      "cadre_superieur coordinador_general",
    ].join(" "),
  },
  { is: "junior", words: "associate assistent assistentin" },
];
