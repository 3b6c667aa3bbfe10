import type { Department } from "../../contracts/contact-source.ts";
import type { WordRule } from "./word-rule.ts";

/** The first matching rule decides, so specific rules come before general ones. */
export const DEPARTMENT_RULES: readonly WordRule<Department>[] = [
  // Word combinations that mean something other than their single words.
  {
    is: "operations",
    words: [
      "executive_assistant administrative_assistant personal_assistant assistant_to assistante_de_direction office_manager",
      "assistentin_der_geschafts* assistent_der_geschafts* asistente_de_direccion health_and_safety chief_operating_officer",
      "manufacturing_engineer production_engineer process_engineer maintenance_* security_guard receptionist* secretary secretaries",
    ].join(" "),
  },
  {
    is: "hr",
    words:
      "people_operations learning_and_development talent_* it_recruiter technical_recruiter people_culture",
  },
  {
    is: "marketing",
    words: "product_marketing content_marketing market_research event_manager* events_manager*",
  },
  {
    is: "communication",
    words: "technical_writer public_affairs investor_relations public_relations university_relations",
  },
  {
    is: "education",
    words: "professor* teacher* lecturer* instructor* librarian* headmaster* dean university_president",
  },
  { is: "health", words: "clinical_* medical_director medical_officer medical_assistant" },
  {
    is: "support",
    words:
      "support_engineer support_agent customer_* service_desk help_desk service_client technical_support",
  },
  {
    is: "sales",
    words:
      "sales_* presales pre_sales medical_sales account_executive* account_manager* account_director* *_account_manager",
  },
  {
    is: null,
    words: "civil_engineer mechanical_engineer electrical_engineer chemical_engineer structural_engineer",
  },
  {
    is: "design",
    words:
      "product_design* ux ui_designer ui_ux user_experience usability interaction_design* urban_design* art_director* creative_director* directeur_artistique",
  },
  // Fields of work.
  {
    is: "legal",
    words: [
      "legal judge* magistrate* prosecut* law lawyer* attorney* counsel paralegal* solicitor* barrister* compliance notary* contract_manager* data_protection",
      "privacy *rechtsanwalt* *anwalt* jurist* justiziar* datenschutz* avocat* juriste* juridique notaire* abogad* legales notari*",
    ].join(" "),
  },
  {
    is: "hr",
    words: [
      "hr human_resources recruiter* recruiting recruitment talent people compensation_and_benefits chro headhunter*",
      "*personalref* personalleit* personal personalwesen personalentwick* personalmanager* ressources_humaines recrutement rh drh",
      "recursos_humanos rrhh seleccion reclutador*",
    ].join(" "),
  },
  {
    is: "finance",
    words: [
      "finance financial cfo accounts accountant* accounting controller* controlling treasur* tax audit auditor* bookkeep* payroll",
      "billing banker* banking investment portfolio credit actuary* risk_analyst underwrit* economist* invest* valuation* appraiser*",
      "teller* broker* trader* trading mortgage* loan loans insurance claims wealth fund",
      "*buchhalt* finanz* steuer* wirtschaftspruf* financier* comptab* finances tresor* contador* contable* financiero* finanzas tesorer*",
    ].join(" "),
  },
  {
    is: "sales",
    words: [
      "sales sale seller* salesman saleswoman salesperson salespeople retail* store_manager car_manager dealer* merchant* cashier* business_development commercial partnership* revenue real_estate export",
      "*vertrieb* verkauf* *verkaufer* aussendienst* ventes vendeu* commerciale comercial ventas vendedor*",
    ].join(" "),
  },
  {
    is: "support",
    words:
      "support helpdesk call_center callcenter customer* client_service* *kundenservice* *kundenberat* kundendienst* kundenbetreu* atencion_al_cliente soporte",
  },
  {
    is: "marketing",
    words: [
      "marketing demand_generation cmo seo sea brand growth social_media campaign* advertising e_commerce ecommerce digital_strateg* content",
      "werbung publicite mercadotecnia publicidad",
    ].join(" "),
  },
  {
    is: "communication",
    words: [
      "communication* pr press media spokes* journalist* editor* editorial copywriter* writer* reporter* translator* interpreter* news newsroom broadcast* publisher* author*",
      "*presse* *kommunikation* redakteur* ubersetz* redacteur* redactrice* journaliste* traduct* periodista* prensa comunicacion redactor*",
    ].join(" "),
  },
  {
    is: "it",
    words: [
      "software developer* programmer* devops it cto cio ciso sre site_reliability data database* cloud network cyber* information_*",
      "technology technical tech system systems sysadmin qa test tester* machine_learning ai web frontend backend full_stack fullstack",
      "mobile scrum_master agile_coach security sap solutions_architect enterprise_architect software_architect business_intelligence ui user_interface unix linux windows java python php javascript deployment* unified_communications",
      "engineering *entwickl* informatik* *software* edv system_administrator* network_administrator* database_administrator* sysadmin* developpe* logiciel* informati* systemes desarrollador*",
      "programador* sistemas",
    ].join(" "),
  },
  {
    is: "design",
    words:
      "design designer* graphic* creative illustrator* photograph* *designer* *gestalt* graphiste* illustrat* fotograf* disenador* diseno",
  },
  {
    is: "health",
    words: [
      "physician* doctor nurse* nursing pharmac* dentist* medical physiotherap* psycholog* veterinar* surgeon* paramedic* therapist*",
      "radiolog* urolog* cardiolog* neurolog* oncolog* dermatolog* gynaecolog* gynecolog* patholog* anesthes* anaesthes* pediatric*",
      "paediatric* orthop* dental dentistry hygienist* optometr* optician* sonograph* ultrasound vaccin* vascular patient hospital urgent_care",
      "dialysis diabetes caregiver* midwife health clinical *arzt *arztin krankenschwester* krankenpfleg* pfleg* apothek* infirmier* medecin* pharmacien*",
      "medico medica enfermer* farmaceutic* psicolog*",
    ].join(" "),
  },
  {
    is: "education",
    words: [
      "teacher* professor* lecturer* dean phd research researcher* postdoc* teaching trainer* tutor* instructor* headmaster* headmistress",
      "academic school university college faculty undergraduate curriculum admissions registrar* tutoring education coach lehrer* dozent* wissenschaft* professeur* enseignant* formateur* chercheu*",
      "profesor* maestr* docente* investigador*",
    ].join(" "),
  },
  {
    is: "operations",
    words: [
      "operations operational coo supply_chain logistic* warehouse* purchas* procurement buyer* facility facilities production quality plant",
      "manufacturing maintenance secretar* driver* dispatch* administrative administrator office utility utilities transport* fleet shipping",
      "delivery inventory demand_plan* value_stream lean continuous_improvement safety guard guards janitor* clerk clerks workshop *einkauf* *einkaufer* logisti*",
      "produktion* lager* sekretar* disponent* achat* acheteu* compras operaciones almacen produccion",
    ].join(" "),
  },
  {
    is: "executive",
    words: [
      "chief_executive* ceo founder* cofounder* owner* president* vice_president vp chairman chairwoman board managing_director*",
      "managing_partner* =partner executive_director* non_executive* entrepreneur* proprietor* director_general directeur_general",
      "geschaftsfuhr* vorstand* inhaber* grunder* gesellschafter* gerant* gerante fondat* pdg socio* fundador*",
    ].join(" "),
  },
  { is: "it", words: "engineer engineers" },
  {
    is: "management",
    words: [
      "manager* director* project product program programme pmo strategy management team_lead* department_head head_of_department",
      "prokurist* projekt* abteilungsleit* teamleit* bereichsleit* filialleit* chef_de_projet directeur* directrice* responsable* gerente* jefe*",
      "jefa* proyecto* leiter leiterin",
    ].join(" "),
  },
];
