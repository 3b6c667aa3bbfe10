/** The fields documented by the API. Users of clients that pass replies on unchanged read these. */
export const SOURCE_ENTRY = ["domain", "uri", "extracted_on", "last_seen_on", "still_on_page"];
export const SEARCH_DATA = [
  ...["domain", "disposable", "webmail", "accept_all", "pattern", "organization", "linked_domains"],
  ...[
    "emails",
    "description",
    "industry",
    "twitter",
    "facebook",
    "linkedin",
    "instagram",
    "youtube",
    "technologies",
  ],
  ...["country", "state", "city", "postal_code", "street", "headcount", "company_type"],
];
export const SEARCH_META = ["results", "limit", "offset", "params"];
export const SEARCH_PARAMS = [
  ...["domain", "company", "type", "offset", "seniority", "department"],
  ...["required_field", "verification_status", "job_titles"],
];
export const EMAIL_ENTRY = [
  ...["value", "type", "confidence", "sources", "first_name", "last_name", "position", "seniority"],
  ...["department", "linkedin", "twitter", "phone_number", "verification", "position_raw"],
];
export const FINDER_DATA = [
  ...["first_name", "last_name", "email", "score", "domain", "accept_all", "position", "twitter"],
  ...["linkedin_url", "phone_number", "company", "verification", "sources"],
];
export const FINDER_PARAMS = ["first_name", "last_name", "full_name", "domain", "company"];
export const VERIFIER_DATA = [
  ...["status", "result", "score", "email", "regexp", "gibberish", "disposable", "webmail", "mx_records"],
  ...["smtp_server", "smtp_check", "accept_all", "block", "sources"],
];
export const COUNT_DATA = ["total", "personal_emails", "generic_emails", "department", "seniority"];
export const ACCOUNT_DATA = [
  ...["first_name", "last_name", "email", "plan_name", "plan_level", "reset_date", "team_id", "calls"],
  "requests",
];
