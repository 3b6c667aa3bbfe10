import { expect, test } from "vitest";
import { readRecipientRefusal, readSessionRefusal } from "./read-refusal.ts";
import type { RefusalReason } from "./refusal-rules.ts";
import { ReplyParser, type SmtpReply } from "./smtp-reply.ts";

function reply(text: string): SmtpReply {
  const [parsed] = new ReplyParser().push(Buffer.from(`${text}\r\n`));
  if (parsed === undefined) throw new Error("The text is not a complete reply");
  return parsed;
}

const ASKED = { local: "ann", domain: "one.test", helo: "mx.two.test", mailFrom: "us@two.test" };

function read(text: string, local = "ann") {
  return readRecipientRefusal(reply(text), { ...ASKED, local });
}

/** Real replies by their reason, collected from documentation and public reports of the named servers. */
const SAID: Record<Exclude<RefusalReason, "protocol">, string[]> = {
  user_unknown: [
    // Postfix, Exim, Sendmail, Courier, OpenSMTPD, smtp-server
    "550 5.1.1 <ann@one.test>: Recipient address rejected: User unknown in local recipient table",
    "550 5.1.1 <ann@one.test>: Recipient address rejected: User unknown in virtual mailbox table",
    "550 5.1.1 <ann@one.test>: Recipient address rejected: User unknown in relay recipient table",
    "550 Unrouteable address",
    "550 <ann@one.test>: this address no longer accepts mail.",
    "550 5.7.17 sorry, no mailbox here by that name",
    "553 sorry, this recipient is not in my validrcptto list (#5.7.1)",
    "550 5.1.1 Bad destination mailbox address",
    "551 User not local",
    "550 5.1.1 <ann@one.test>: user lookup success but no user record found",
    "550 5.1.1 <ann@one.test>: undeliverable address: host mx[192.0.2.9] said: 550 User unknown (in reply to RCPT TO command)",
    "550 Recipient ann was not found in the LDAP directory",
    "550 utilisateur inconnu",
    "550 Benutzer unbekannt",
    "550 Unknown user",
    "550 5.1.1 <ann@one.test>... User unknown",
    "550 User unknown.",
    "550 Invalid recipient: <ann@one.test>",
    "550 5.1.1 No such user here",
    "550 no mailbox here by that name",
    // Gmail
    "550-5.1.1 The email account that you tried to reach does not exist. Please try\r\n550-5.1.1 double-checking the recipient's email address for typos or\r\n550 5.1.1 unnecessary spaces. For more information, go to https://support.google.com/mail/?p=NoSuchUser x1-20020a05 - gsmtp",
    // Microsoft
    "550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).",
    "550 5.4.1 Recipient address rejected: Access denied. [AM0EUR02FT021.eop-EUR02.prod.protection.outlook.com]",
    "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ann@one.test not found by SMTP address lookup",
    // Yahoo, AOL, iCloud, GMX, mail.ru, Yandex, QQ, Zoho, Proofpoint, Mimecast
    "554 delivery error: dd This user doesn't have a yahoo.com account (ann@one.test) [0] - mta4321.mail",
    "552 1 Requested mail action aborted, mailbox not found",
    "550 5.1.1 <ann@one.test>: user does not exist",
    "550 Requested action not taken: mailbox does not exist",
    "550 Message was not accepted -- invalid mailbox.  Local mailbox ann@one.test is unavailable: user not found",
    "550 5.7.1 No such user!",
    "550 Mailbox not found. http://service.mail.qq.com/",
    "550 5.1.1 <ann@one.test>: Email address could not be found, or was misspelled (G8)",
    "550 5.1.1 User Unknown",
    "550 Account not found",
    // The name in question is itself a word of the rules.
    "550 5.1.1 <spam@one.test>: Recipient address rejected: User unknown",
    "550 No such user: spam",
    "553 5.3.0 <ann@one.test>... Addressee unknown",
  ],
  mailbox_full: [
    "552 5.2.2 The email account that you tried to reach is over quota.",
    "452 4.2.2 Mailbox full",
    "452-4.2.2 The recipient's inbox is out of storage space. Please direct the\r\n452 4.2.2 recipient to https://support.google.com/mail/?p=OverQuotaTemp",
    "552 Mailbox is full",
    "550 Quota exceeded (mailbox for user is full)",
    "451 User mailbox exceeds allowed size: over quota",
    "552 5.2.2 <ann@one.test>: Recipient address rejected: quota exceeded",
  ],
  mailbox_disabled: [
    "550 5.2.1 The email account that you tried to reach is disabled.",
    "550 5.2.1 <ann@one.test>: mailbox disabled, not accepting messages",
    "554 30 Sorry, your message to ann@one.test cannot be delivered. This mailbox is disabled (554.30).",
    "550 Account is suspended",
    "550 inactive user",
    "550 5.2.1 This account is locked",
  ],
  policy: [
    "554 5.7.1 Client host blocked by blocklist",
    "550 5.7.1 Service unavailable, Client host [192.0.2.1] blocked using Spamhaus. To request removal from this list see https://www.spamhaus.org/query/ip/192.0.2.1 (AS3130)",
    "550 5.7.606 Access denied, banned sending IP [192.0.2.1]",
    "550 5.1.1 Your IP is blacklisted, user unknown to you",
    "554 5.7.1 <ann@one.test>: Relay access denied",
    "550 5.7.1 Unable to relay for ann@one.test",
    "550 relay not permitted",
    "530 5.7.0 Must issue a STARTTLS command first",
    "530 5.7.57 Client was not authenticated to send anonymous mail during MAIL FROM",
    "550 5.7.1 Sender address rejected: not owned by user",
    "553 5.1.8 <us@two.test>: Sender address rejected: Domain not found",
    "550 5.7.25 The IP address sending this message does not have a PTR record setup",
    "554 5.7.1 Rejected due to poor reputation of 192.0.2.1",
    "550 5.7.1 SPF check failed",
    "550 High probability of spam",
    "550 Requested action not taken: mailbox unavailable",
    "550 Administrative prohibition",
    "554 Transaction failed",
    "550 No",
    "550 5.1.0 Address rejected",
    "571 Delivery not authorized",
    "451 4.7.1 Client host blocked by reputation, try again later",
    "421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to user complaints",
    "550 5.7.1 Too many invalid recipients from you",
  ],
  greylisted: [
    "450 4.2.0 <ann@one.test>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/one.test.html",
    "451 4.7.1 Greylisting in action, please come back in 00:04:58",
    "451 Greylisted, please try again in 300 seconds",
    "450 4.7.1 <ann@one.test>: Recipient address rejected: Policy Rejection- Please try later.",
    "451 4.7.1 Please try again later",
    "450 try again later",
    "451-192.0.2.1 is not yet authorized to deliver mail from\r\n451 <us@two.test> to <ann@one.test>. Please try later.",
    "450 4.7.1 Recipient address rejected: temporarily deferred",
    "451 4.7.500 Please try again later from [192.0.2.1].",
  ],
  temporary: [
    "451 Temporary local problem - please try later",
    "451 4.3.0 Temporary lookup failure",
    "450 4.1.1 <ann@one.test>: Recipient address rejected: unverified address: Address verification in progress",
    "452 4.3.1 Insufficient system storage",
    "421 4.3.2 Service shutting down",
    "450 4.2.1 The user you are trying to contact is receiving mail too quickly",
    "450 4.1.1 <ann@one.test>: Recipient address rejected: User unknown in local recipient table",
    "450 mailbox unavailable",
    "442 Whatever that is",
  ],
};

test.each(Object.entries(SAID))("readRecipientRefusal returns %s for its replies", (reason, said) => {
  for (const text of said) expect(read(text, "spam").reason, text).toBe(reason);
});

/** Refusals that may concern the sender or the server, whatever their codes and their other words. */
const UNCLEAR = [
  "553 5.1.8 <us@two.test>... Domain of sender address us@two.test does not exist",
  "550 5.1.7 Invalid address",
  "550 5.1.7 User unknown",
  "550 5.1.8 Mailbox not found",
  "550 5.1.0 Your return address is invalid or does not exist",
  "550 The From address <us@two.test> could not be found",
  "550 Verification failed for <us@two.test>: user unknown",
  "550-Verification failed for <us@two.test>\r\n550-Unrouteable address\r\n550 Sender verify failed",
  "550 Return path mailbox does not exist",
  "550 5.1.1 Reverse-path address does not exist",
  "550 Bounce address unknown: no such user",
  "550 Envelope sender: mailbox not found",
  "550 sender account is suspended",
  "550 Originator mailbox disabled",
  "556 5.1.10 Sender address has null MX",
  "550 5.1.1 User lookup failed, LDAP server unavailable",
  "550 5.1.1 User unknown; rejecting (directory service temporarily not available)",
  "550 5.1.1 Recipient database error: user not found",
  "550 5.1.1 user unknown (resolver timed out)",
  "550 5.3.2 User unknown, system not accepting network messages",
  "550 5.4.310 DNS domain one.test does not exist",
  "550 5.4.1 No such user: routing loop",
  "550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages",
  "550 5.4.5 Daily user sending quota exceeded",
  "550 Hourly sending limit reached for mailbox",
  "550 5.2.1 content filter agent quarantined",
  "550 5.2.1 Rejected",
  "550 Cannot resolve your domain; mailbox not found",
  "550 5.7.509 Access denied, user unknown to the sending domain",
  "550 5.7.1 Recipient not found for unauthorised hosts",
  "550 callout to mx.two.test: mailbox unavailable",
  "550 mx.two.test is not known here: user unknown",
  "550 no such user at two.test",
  "550 5.1.1 postmaster of your domain: user unknown",
  "550 User unknown (you have exceeded the maximum number of invalid recipients)",
  "550 5.1.1 Directory harvest protection: recipient rejected",
  "550 internal users only: user unknown to outside",
  "550 5.2.1 mailbox not accepting messages from outside",
  "550 recipient has blocked you",
  "550 You are not a valid user",
  "550 Recipient domain does not exist here",
  "550 This domain's hosting account has been suspended",
  "550 5.2.1 mailbox disabled due to server migration",
  "550 Mailbox locked",
  "550 5.2.1 <ann@one.test>: the mailbox of this user is currently locked",
  "554 5.2.0 Unable to open locked mailbox",
  "550 Inbox is locked by another session",
  "550 5.1.1 recipient not found: could not contact directory",
  "550 Invalid recipient: backend is offline",
  "550 5.1.1 unknown user daemon, pipe transport failed",
  "550 Mailbox not found or access denied",
  "550 The group does not accept messages, address not found",
];

test("a refusal that may concern the sender or the server denies no mailbox", () => {
  for (const text of UNCLEAR) expect(["policy", "temporary"], text).toContain(read(text).reason);
});

test.each([
  ["550 5.1.1 <ann@two.test>: User unknown", "two.test"],
  ["550 5.1.1 no such user at two.test", "two.test"],
  ["550 5.1.1 <ann@mail.two.test>: User unknown", "mail.two.test"],
])("a refusal for the sender's own domain may name that domain: %s", (text, domain) => {
  expect(readRecipientRefusal(reply(text), { ...ASKED, domain }).reason).toBe("user_unknown");
});

test("the words of two refusals are equal if only names, numbers and IDs differ", () => {
  const words = (text: string, local: string) => read(text, local).words;
  const one = words("550 5.1.1 <ann@one.test>: No such user ann (x1-2005 at 12:04:05)", "ann");
  expect(
    words("550 5.1.1 <postmaster@one.test>: No such user postmaster (k9-77 at 12:04:06)", "postmaster"),
  ).toBe(one);
  expect(words("550 5.1.1 <postmaster@one.test>: Access denied", "postmaster")).not.toBe(one);
  expect(words("554 5.1.1 <ann@one.test>: No such user ann", "ann")).not.toBe(one);
});

test("a reply to RCPT that cannot concern a recipient is a protocol error", () => {
  const commands = ["500 What?", "501 Syntax", "502 Not implemented", "503 Bad sequence", "504 No"];
  for (const text of [...commands, "555 Unknown parameter", "354 Go", "252 Maybe"]) {
    expect(read(text).reason, text).toBe("protocol");
  }
});

test("only a permanent refusal without a known code or text is ambiguous", () => {
  for (const text of ["550 No", "554 Transaction failed", "550 5.1.0 Address rejected", "553 5.1.3 Bad"]) {
    expect(read(text), text).toMatchObject({ reason: "policy", isAmbiguous: true });
  }
  for (const text of ["550 5.7.1 No", "550 Spam", "550 5.1.1 No", "450 No"]) {
    expect(read(text).isAmbiguous, text).toBe(false);
  }
});

test("a refusal before RCPT never concerns a mailbox, whatever its text", () => {
  for (const said of Object.values(SAID).flat()) {
    const { reason } = readSessionRefusal(reply(said));
    expect(["policy", "temporary", "greylisted"], said).toContain(reason);
    if (said.startsWith("5")) expect(reason, said).toBe("policy");
  }
});

test.each([
  ["451 Greylisted, please try again in 300 seconds", 300_000],
  ["451 Greylisted, retry in 5 minutes", 300_000],
  ["450 Greylisted for 1 hour", 3_600_000],
  ["451 Greylisted: come back in 00:04:58", 298_000],
  ["451 Greylisted: come back in 4:58", 298_000],
  ["451 Greylisted: come back in 01:00:00", 3_600_000],
  ["451 Greylisted for 99999 hours", 21_600_000],
  ["451 Greylisted for 1 second", 30_000],
  ["451 Greylisted", null],
  ["550 5.1.1 No such user, try in 5 minutes", null],
])("the retry time is parsed from: %s", (text, retryAfterMs) => {
  expect(read(text).retryAfterMs).toBe(retryAfterMs);
});

test("pathological texts are classified in under a second", () => {
  const begunMs = performance.now();
  const words = ["account ", "the ip ", "user a b c d ", "exceeds x ", "no longer "];
  for (const word of [...words, "< ", "<", "@", "a@", "1", "1:"]) {
    for (const code of ["550", "450"]) {
      const lines = Array.from({ length: 16 }, () => word.repeat(4000 / word.length));
      readRecipientRefusal({ code: Number(code), enhancedCode: null, lines }, { ...ASKED, local: "user" });
    }
  }
  expect(performance.now() - begunMs).toBeLessThan(1000);
});
