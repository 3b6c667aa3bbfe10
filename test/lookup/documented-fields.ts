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
/** The fields of profiles, as clients of enrichment services read them; `a.b` is a field of a field. */
export const PERSON_FIELDS = [
  ...[
    "id",
    "name.fullName",
    "name.givenName",
    "name.familyName",
    "email",
    "location",
    "timeZone",
    "utcOffset",
  ],
  ...["geo.city", "geo.state", "geo.stateCode", "geo.country", "geo.countryCode", "geo.lat", "geo.lng"],
  ...["bio", "site", "avatar", "employment.domain", "employment.name", "employment.title", "employment.role"],
  ...["employment.subRole", "employment.seniority", "facebook.handle", "github.handle", "github.id"],
  ...["github.avatar", "github.company", "github.blog", "github.followers", "github.following"],
  ...["twitter.handle", "twitter.id", "twitter.bio", "twitter.followers", "twitter.following"],
  ...["twitter.statuses", "twitter.favorites", "twitter.location", "twitter.site", "twitter.avatar"],
  ...["linkedin.handle", "googleplus.handle", "gravatar.handle", "gravatar.urls", "gravatar.avatar"],
  ...["gravatar.avatars", "fuzzy", "emailProvider", "indexedAt", "phone", "activeAt", "inactiveAt"],
];
export const COMPANY_FIELDS = [
  ...["id", "name", "legalName", "domain", "domainAliases", "site.phoneNumbers", "site.emailAddresses"],
  ...["category.sector", "category.industryGroup", "category.industry", "category.subIndustry"],
  ...["category.gicsCode", "category.sicCode", "category.sic4Codes", "category.naicsCode"],
  ...["category.naics6Codes", "category.naics6Codes2022", "tags", "description", "foundedYear", "location"],
  ...["timeZone", "utcOffset", "geo.streetNumber", "geo.streetName", "geo.subPremise", "geo.streetAddress"],
  ...["geo.city", "geo.postalCode", "geo.state", "geo.stateCode", "geo.country", "geo.countryCode"],
  ...["geo.lat", "geo.lng", "logo", "facebook.handle", "facebook.likes", "linkedin.handle"],
  ...["twitter.handle", "twitter.id", "twitter.bio", "twitter.followers", "twitter.following"],
  ...["twitter.location", "twitter.site", "twitter.avatar", "crunchbase.handle", "instagram.handle"],
  ...["youtube.handle", "emailProvider", "type", "company_type", "ticker", "identifiers.usEIN", "phone"],
  ...["metrics.alexaUsRank", "metrics.alexaGlobalRank", "metrics.trafficRank", "metrics.employees"],
  ...["metrics.marketCap", "metrics.raised", "metrics.annualRevenue", "metrics.estimatedAnnualRevenue"],
  ...["metrics.fiscalYearEnd", "indexedAt", "tech", "techCategories", "fundingRounds", "parent.domain"],
  "ultimateParent.domain",
];
const outer = (paths: readonly string[]) => [...new Set(paths.map((path) => path.split(".")[0] ?? ""))];
export const PERSON_DATA = outer(PERSON_FIELDS);
export const COMPANY_DATA = outer(COMPANY_FIELDS);
