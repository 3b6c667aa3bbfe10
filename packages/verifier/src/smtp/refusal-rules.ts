import type { ProbeReason } from "@outrigger/core/lookup";
import { FOREIGN_SENDER, FOREIGN_UNKNOWN, isUnderstood, NAMES_RECIPIENT } from "./refusal-words.ts";

/** Reasons that a refusal can have. */
export type RefusalReason = Extract<
  ProbeReason,
  "user_unknown" | "mailbox_full" | "mailbox_disabled" | "policy" | "greylisted" | "temporary" | "protocol"
>;

export interface RefusalRule {
  reason: RefusalReason;
  /** Matches the codes of the rule, as `550` or `550 5.1.1`. */
  codes: RegExp;
  /** Matches the text, in lower case and without addresses. Absent: any text. */
  says?: Pick<RegExp, "test">;
  /** The meaning is unclear: it does not count as a refusal of the mailbox, but as one of a made-up name. */
  isAmbiguous?: true;
}

/** Words of refusals that concern the sender. They win over any code: servers also send `5.1.1` with them. */
const ABOUT_US =
  /\b(?:spamhaus|spamcop|sorbs|barracuda|proofpoint|cloudmark|senderscore|dnsbls?|rbls?|black-?list(?:ed|ing)?|block-?list(?:ed)?|deny-?list(?:ed)?|reputation|banned|complaints?|reverse dns|rdns|ptr|dynamic ip|pop before smtp|check (?:your )?mail first|residential|spf|dkim|dmarc|helo|ehlo|sender (?:address |verify |domain )?(?:is )?(?:rejected|denied|refused|not|failed|invalid|blocked|unknown|verification)|(?:ip|host|client|network|connection|server)s?(?: \S+){0,4} (?:is |was |has been |are )*(?:blocked|rejected|refused|denied|banned)|blocked (?:by|using|for)|relay(?:ing)?(?!=\[[\d.:a-f]+\][. ]*$| (?:recipient|domain)s? (?:table|map))|authenticat(?:e|ion)|starttls|spam|too many|rate limit(?:ed)?|throttl(?:ed|ing))\b/;

/** Words of refusals that concern the sender of the message: its address, envelope, rate or content. */
const ABOUT_SENDER =
  /\b(?:senders?|originat(?:or|ing)|from (?:(?:an? )?unknown|address|header|field|domain|user)|submitter|author(?:'s|s)?|message size|mail ?from|send(?:ing|er) (?:address|host|server|user)|source (?:address|host)|reply(?:-?to| address)|from: |return(?:[- ]path| address)|reverse[- ]path|bounce address|envelope|call-?outs?|call-?backs?|verif(?:y|ication) failed|verification|sav|your (?:e-?mail )?(?:address(?! ?book)|domain|host|server|ip|network|mail ?server|account|isp|provider|organi[sz]ation|helo|policy)|quarantin\w*|content filter|at a rate|rate[- ]limit\w*|too (?:quickly|fast|many|much)|(?:sending|outbound|hourly|daily) (?:\S+ )?(?:limit|quota|rate))\b/;

/** Words of permanent refusals that concern the server's own trouble. A mailbox is locked while another program writes to it. */
const TROUBLE =
  /\b(?:(?:mail ?box|mail ?drop|in ?box|mail ?file|mail ?store|spool|folder)(?: \S+){0,7} locked|locked (?:e-?mail )?(?:mail ?box|mail ?drop|in ?box|mail ?file|mail ?store|spool|folder)|(?:directory|ldap|database|server|service|system|lookup|resolver|dns)(?: \S+){0,3} (?:unavailable|not available|unreachable|failed|failure|failing|error|problem|down|timed out|time-?out|busy)|(?:database|directory|table) (?:is |was )?locked|alias expansion|(?:unable to|cannot|can't|could not) (?:open|create|write|read)|(?:read|write|file|disk) error|loop(?:s|ing)?|no mx|(?:lookup|query|search) (?:failed|failure|error|timed out)|internal (?:\S+ )?(?:error|problem|failure)|temporar(?:y|ily)|try (?:again )?later|cannot resolve|out of (?:memory|resources|disk)|insufficient (?:system )?(?:resources|storage|disk))\b/;

/** Words of refusals that concern more than the mailbox: the client, its network, the domain, a group, a rule. */
const ABOUT_MORE =
  /\b(?:(?:ip(?:v[46])?|host|client)(?:[- ]| host )address|syntax|malformed|attacks?|harvest\w*|dha|members?(?:hip)?|member-only|subscribe(?:d|rs?)|internal|internally|external|outside|migrat\w*|maintenance|offline|pipe|transport|back-?end|upstream|credentials?|certificate|licen[cs]e|suppress(?:ed|ion|es)|gr[ae]y-?list\w*|exceed(?:ed|s|ing)?(?: \S+){0,3} (?:limit|number|maximum|max|invalid)|rate of|maximum|limits?|blocked(?! (?:due to|because of|for) inactivity)|denied|polic(?:y|ies)|err_?temp|hosting|groups?|connections?|attempts?|user agent|(?:server|imap|pop3?|smtp|relay|service) account|(?:client|your|remote|mail) host|hosts? (?:is |was |are )?(?:unknown|not|does|invalid)|locked by|(?:cannot|can ?not|could not|unable to) (?:verify|contact|reach|connect|check|determine)|domains?(?: \S+){0,5} (?:unknown|not|disabled|suspended|expired|invalid|suspension)|(?:of|for) (?:this|the|that) domain (?:is|was|has)|from (?:you|this|outside|the internet)|your (?:mailbox|country|client|name|identity)|you(?!(?:'ve)? (?:believe|think|feel|tried|attempted|entered|specified|typed|sent|want|(?:are|were|have) (?:trying|attempting|sending|tried|attempted|entered|specified|typed|the (?:correct|right)))))\b/;

/** Words of the recipient's filter of strangers, such as challenge and response. */
const STRANGERS =
  /\b(?:challenges?|captcha|(?:white|allow|safe|guest)[- ]?list(?:s|ed)?|approv(?:al|es?|ed)|(?:un)?authori[sz](?:es?|ed)|(?:un)?authenticated|restrict(?:s|ed|ions?)|permi(?:ts?|tted|ssions?)|allow(?:s|ed)|private|protected|declin(?:es?|ed)|unsolicited|strangers?|correspondents?(?! directly)|(?:un)?known (?:senders|people|persons|contacts)|contacts|friends|only|send-only|passwords?|vacation|guard|confirmation|client unknown|blocks|unverif\w+|(?:not|never) verified|opted|opt-?(?:in|out)|unwilling|unwanted|not wish|consent|trusted|humans?|click (?:the|this) link|preferences?|filter(?:s|ed|ing)?|confirm (?:that )?you\w*|only accept\w*|accept\w* (?:\S+ ){0,3}(?:only|from)|not accept \S+ from|refus(?:es?|ed) (?:to|your|mail|messages|e-?mail|by)|rejected by (?:the )?(?:user|recipient)|by (?:the )?(?:recipient|addressee|user))\b/;

/** Whether a name contains words that would change the meaning of a reply which repeats it. */
export function misleads(name: string): boolean {
  return [ABOUT_US, ABOUT_SENDER, FOREIGN_SENDER, TROUBLE, ABOUT_MORE, STRANGERS].some((words) =>
    words.test(name),
  );
}

/**
 * The whole text of refusals that can concern nothing but the recipient, whatever their enhanced code: some
 * servers send 5.3.0 or 5.7.1 with them.
 */
const ONLY_RECIPIENT =
  /^[\d.:#() -]*(?:recipient address rejected: )?(?:(?:sorry,? )?no (?:such (?:user|mailbox|recipient|person|address)|mailbox)(?: here)?(?: by that name)?|(?:user|recipient|addressee|mailbox) (?:unknown|not found|does ?n[o']t exist|does not exist)|(?:unknown|invalid) (?:user|recipient|mailbox)|(?:that |this )?recipient is not in my list of valid rcpts|recipient address rejected: user unknown(?: in (?:local|virtual|relay) (?:recipient|mailbox|alias) table)?)[.! :()#]*(?:[\w.-]*\d[\w.-]*[ ()#.]*)*$/;

const USER_UNKNOWN =
  /\b(?:(?:user|recipient|mailbox|account|address|addressee|alias)s?(?: address| name| account)? (?:is |was |has |are |could |did |can |been )*(?:unkn?own?|not found|notfound|not known|not exists?|not existing|is not exist|not here|not be found|n't be found|cannot be found|non-?exist(?:ent|ing|ant)|inexistent|invalid|deleted|removed|no longer active|no longer has|no longer (?:valid|available|exists?|in use)|do(?:es)? ?n[o']?t exists?|does not exists?|does not have|not listed|not defined|not in (?:my|our|the|address) ((?:\S+ ){0,2})(?:list|table|directory)|not in address list|not found in table|not valid|not recogni[sz]ed)|(?:unknown|invalid|non-?existent|no such|not a known|not a valid|undeliverable|unrouteable|unroutable|unrecogni[sz]ed) (?:local |virtual |destination |e-?mail )?(?:user|recipient|mailbox|account|address|addressee|person|local[- ]part|alias)|no (?:mailbox|users?|account|recipient|such person|one)(?: here| by| with| found| exists)|does(?: not|n't) (?:have an? |exist)|user doesn't|no longer (?:at|with|works|employed)|unknown in|unknown or illegal (?:user|alias|address)|recipient no longer on (?:this )?server|address no longer (?:accepts|receives) (?:(?:e-?)?mail|messages)|(?:user|recipient) has moved|user not local|not in my validrcptto list|bad destination (?:e-?mail|mailbox) address|not our (?:user|customer)|no such rcpt|not in my list of valid r\w+|not present in (?:the )?directory|in name directory|not found in (?:the |our )?(?:ldap|(?:(?:ldap|name|global) )?(?:directory|address (?:book|list)))|userunknown|(?:user|account|mailbox|recipient|address) (?:is )?not active|not an active (?:user|account|mailbox|address)|(?:unknown|no such) e-?mail address|no ?one at this address|no mail ?box|(?:e-?mail )?name is not found|address ((?:\S+ ){0,4})(?:no longer valid|(?:could not|couldn't|cannot) be found)|no user record|(?:ex)?recip(?:ient)?notfound|dosn't exist|does not like recipient|you (?:tried|have tried|are trying) to (?:reach|contact) (?:is |was )?(?:not found|unknown|invalid|inactive)|not in (?:my|our|the) database|user ?name (?:unknown|not found)|in ?box (?:was |is )?not found|not (?:a )?local (?:user|recipient|mailbox)|no longer an? (?:employee|user|customer)|no longer a valid (?:address|recipient|user|mailbox)|not listed in (?:the |our )?domino|(?:user|recipient|employee|person) (\S+ )?(?:has )?left (?:the |our |this )?(?:company|organi[sz]ation|school|university)|(?:unable to|cannot|can ?not|can't|could not|couldn't) (?:find|locate) (?:the |this |that |a )?(?:user|recipient|mailbox|account|address)|no (?:valid|local|existing) (?:user|recipient|mailbox|account|address)|no (?:user|account|mailbox)[.! ]*$|(?:bad|wrong|illegal|undefined|unexisting|not existing|non-?existing) (?:user|recipient|mailbox|account|address)|unkn?own? user|(?:do not|don't) know (?:that|this|the) (?:user|recipient)|unavailable or not local|cuda_nsu|no ?body (?:here )?by (?:this|that) name|no matching (?:user|recipient|mailbox|account)(?: found)?[. ]*$|(?:the|this|that|recipient|e-?mail) name is not known|^name is not known|(?:mailbox|account|address) is not in use|(?:mailbox|account) for (?:is |was )?not found|(?:user|recipient|mailbox|account) (?:is )?no longer on this (?:server|system)|(?:recipient|mailbox) (?:is )?not registered|(?:do not|don't) have (?:(?:that|this|such an?) (?:user|mailbox|account)|an? (?:user|mailbox|account) by (?:this|that) name)|wrong e-?mail address|not a user here|adressee (?:unknown|not found))\b/;

const DISABLED =
  /\b(?:blocked (?:due to|because of|for) inactivity|(?:account|mailbox|user|recipient|address)((?: [^\s.:;,]+){0,7}) (?:disabled|inactive|suspended|deactivated|locked|expired|closed|terminated)|(?:disabled|inactive|suspended|deactivated|locked|expired) (?:e-?mail )?(?:account|mailbox|user|recipient|address)|not accepting (?:mail|messages)|discontinued|(?:account|mailbox|user) (?:is |was |has been )?(?:cancell?ed|retired|frozen)|obsolete (?:e-?mail )?(?:account|mailbox|user|address)|(?:account|mailbox|address) is obsolete)\b/;

const FULL =
  /\b(?:mail ?quota exceeded|over ?quota|over (?:storage|disk|mailbox) (?:limit|quota)|quota (?:is )?(?:exceeded|full|reached)|exceed(?:ed|s)?((?: \S+){0,3}) (?:quota|storage)|(?:mailbox|inbox|mail box|account)((?: \S+){0,3}) (?:is )?full|full mailbox|out of storage)\b/;

const OWN_TROUBLE =
  /\b(?:local (?:problem|error)|lookup (?:failure|failed|error)|internal|resources?|system storage|disk|database|server (?:error|busy|configuration)|dns (?:error|failure|lookup)|unverified|verification|timed? ?out|too many (?:recipients|connections)|load|unavailable)\b/;

const TRY_LATER =
  /\b(?:gr[ae]y-?list\w*|postgrey|try(?:ing)? (?:it |this )?(?:again|later)|retry|come back|again (?:later|in)|temporarily (?:rejected|deferred|refused)|deferred|not yet|first time|\d+ (?:seconds?|minutes?))\b/;

/** 52x, 53x and 57x concern the host, the client's login and its permissions; 511 is qmail's for 5.1.1. */
const OF_RECIPIENT = /^5(?:1\d|5[0-4])/;

const DENIALS = [USER_UNKNOWN, DISABLED, FULL].map((denial) => new RegExp(denial, "g"));
/** Matches a text that has this denial and says nothing else: what more it says may be the server's trouble. */
const only = (denial: RegExp) => ({
  test: (text: string) => denial.test(text) && isUnderstood(text, DENIALS),
});

/** Rules for a refused RCPT; the first match counts. */
export const RECIPIENT_RULES: readonly RefusalRule[] = [
  { reason: "protocol", codes: /^5(?:00|01|02|03|04|55)$/ },
  { reason: "policy", codes: /^5/, says: ABOUT_US },
  { reason: "policy", codes: /^5\d\d 5\.1\.[78]$/ },
  { reason: "policy", codes: /^5/, says: ABOUT_SENDER },
  { reason: "policy", codes: /^5/, says: FOREIGN_SENDER },
  { reason: "temporary", codes: /^5/, says: TROUBLE },
  { reason: "mailbox_full", codes: /^5(?:\d\d 5\.2\.2|52)$/, says: only(FULL) },
  // Exchange Online refuses names that are not in its directory with these words.
  {
    reason: "user_unknown",
    codes: /^550 5\.4\.1$/,
    says: only(/^[^a-z]*recipient address rejected: access denied/),
  },
  { reason: "policy", codes: /^5/, says: ABOUT_MORE },
  { reason: "policy", codes: /^5/, says: STRANGERS },
  { reason: "user_unknown", codes: /^5[15]\d 5\.(?:3\.0|7\.17?)$/, says: ONLY_RECIPIENT },
  { reason: "temporary", codes: /^5\d\d 5\.[34]\.\d+$/ },
  { reason: "policy", codes: /^5\d\d 5\.7\.\d+$/ },
  { reason: "mailbox_full", codes: /^4\d\d 4\.2\.2$/ },
  { reason: "mailbox_full", codes: /^5\d\d 5\.2\.2$/, says: only(/^/) },
  { reason: "mailbox_disabled", codes: OF_RECIPIENT, says: only(DISABLED) },
  { reason: "mailbox_full", codes: OF_RECIPIENT, says: only(FULL) },
  { reason: "user_unknown", codes: OF_RECIPIENT, says: only(USER_UNKNOWN) },
  // Outlook.com's reply for unknown names. Without the code it is RFC 5321's text for any failure.
  { reason: "user_unknown", codes: /^550 5\.5\.0$/, says: only(/mailbox unavailable/) },
  { reason: "user_unknown", codes: /^55[0-4]$/, says: FOREIGN_UNKNOWN },
  { reason: "user_unknown", codes: /^5\d\d 5\.1\.(?:1|6|10)$/, says: NAMES_RECIPIENT },
  // A text that is not understood says nothing certain.
  { reason: "policy", codes: OF_RECIPIENT, says: USER_UNKNOWN, isAmbiguous: true },
  { reason: "policy", codes: /^5\d\d 5\.1\.(?:1|6|10)$/ },
  { reason: "policy", codes: /^5/, isAmbiguous: true },
  { reason: "mailbox_full", codes: /^4/, says: FULL },
  { reason: "greylisted", codes: /^45\d/, says: /gr[ae]y-?list|postgrey/ },
  { reason: "policy", codes: /^4/, says: ABOUT_US },
  { reason: "temporary", codes: /^4/, says: OWN_TROUBLE },
  { reason: "greylisted", codes: /^45[01](?: 4\.(?:7\.\d+|2\.0))?$/, says: TRY_LATER },
  { reason: "greylisted", codes: /^45[01] 4\.7\.[01]$/ },
  { reason: "temporary", codes: /^4/ },
];

/**
 * Rules for a refused greeting, EHLO or MAIL. No recipient has been named yet, so the refusal concerns the
 * sender.
 */
export const SESSION_RULES: readonly RefusalRule[] = [
  { reason: "protocol", codes: /^5(?:00|01|02|03|04|55)$/ },
  { reason: "policy", codes: /^5/ },
  { reason: "greylisted", codes: /^45\d/, says: /gr[ae]y-?list|postgrey/ },
  { reason: "policy", codes: /^4/, says: ABOUT_US },
  { reason: "temporary", codes: /^4/ },
];
