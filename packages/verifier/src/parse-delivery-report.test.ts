import { expect, test } from "vitest";
import { parseDeliveryReport } from "./parse-delivery-report.ts";

const HUMAN = ["Content-Type: text/plain", "", "Your mail was not delivered to <other@one.test>."];

/** A report with these parts, as mail servers send it. */
function reportOf(parts: readonly (readonly string[])[], type = "delivery-status", end = "\r\n"): string {
  const lines = [
    ...["From: MAILER-DAEMON@mx.one.test", "To: bounces@two.test", "Subject: Undelivered Mail"],
    `Content-Type: multipart/report; report-type=${type};`,
    ...['\tboundary="b/1"', "MIME-Version: 1.0", ""],
    ...parts.flatMap((part) => ["--b/1", ...part, ""]),
    "--b/1--",
  ];
  return lines.join(end);
}

/** A report on the delivery to recipients, each a list of fields. */
function dsnOf(...recipients: readonly (readonly string[])[]): string {
  const status = ["Content-Type: message/delivery-status", "", "Reporting-MTA: dns; out.four.test", ""];
  return reportOf([HUMAN, [...status, ...recipients.flatMap((fields) => [...fields, ""])]]);
}

const FAILED = ["Final-Recipient: rfc822; ann@one.test", "Action: failed", "Status: 5.1.1"];
const ANN = { address: "ann@one.test", kind: "bounced", code: "5.1.1" };

test("a report on several recipients has the final result of each, and no delay or relay", async () => {
  const message = dsnOf(
    FAILED,
    ["Final-Recipient: rfc822;bob@one.test", "Action: delivered", "Status: 2.0.0"],
    ["Final-Recipient: rfc822; cy@one.test", "Action: delayed", "Status: 4.4.1"],
    ["Final-Recipient: rfc822; di@one.test", "Action: relayed", "Status: 2.0.0"],
    ["Final-Recipient: rfc822; ed@one.test", "Action: expanded", "Status: 2.0.0"],
    ["FINAL-RECIPIENT : RFC822 ; <Fy@One.Test>", "action: Failed (mailbox full)", "status: 5.2.2 (full)"],
    ["Final-Recipient: X-Local; gus", "Action: failed", "Status: 5.1.1"],
    ["Action: failed", "Status: 5.1.1"],
  );
  const found = [
    ANN,
    { address: "bob@one.test", kind: "delivered", code: "2.0.0" },
    { address: "fy@one.test", kind: "bounced", code: "5.2.2" },
  ];
  expect(await parseDeliveryReport(message)).toEqual(found);
  expect(await parseDeliveryReport(Buffer.from(message.replaceAll("\r\n", "\n")))).toEqual(found);
});

test("the address of a report is the one that the mail was sent to, and its code not that of a forwarded mailbox", async () => {
  const forwarded = ["Original-Recipient: rfc822; Ann@one.test", "Final-Recipient: rfc822; left@three.test"];
  const diagnostic = "Diagnostic-Code: smtp; 550 5.1.1 <left@three.test>: User unknown";
  for (const fields of [FAILED.slice(1), [...FAILED.slice(1), diagnostic]]) {
    expect(await parseDeliveryReport(dsnOf([...forwarded, ...fields]))).toEqual([{ ...ANN, code: "5.0.0" }]);
  }
  const full = [...forwarded, "Action: failed", "Status: 5.2.2"];
  expect(await parseDeliveryReport(dsnOf(full))).toEqual([{ ...ANN, code: "5.2.2" }]);
  const same = ["Original-Recipient: rfc822; Ann@One.test", ...FAILED];
  expect(await parseDeliveryReport(dsnOf(same))).toEqual([ANN]);
  const unknown = ["Original-Recipient: rfc822; unknown", ...FAILED];
  expect(await parseDeliveryReport(dsnOf(unknown))).toEqual([ANN]);
});

test("an alias that reached one of its mailboxes is delivered, whichever comes first", async () => {
  const alias = "Original-Recipient: rfc822; info@one.test";
  const failed = [alias, "Final-Recipient: rfc822; left@one.test", "Action: failed", "Status: 5.2.1"];
  const reached = [alias, "Final-Recipient: rfc822; bob@one.test", "Action: delivered", "Status: 2.0.0"];
  const found = { address: "info@one.test", kind: "delivered", code: "2.0.0" };
  expect(await parseDeliveryReport(dsnOf(failed, reached, FAILED))).toEqual([found, ANN]);
  expect(await parseDeliveryReport(dsnOf(reached, failed))).toEqual([found]);
});

test.each([
  ["smtp; 550 5.1.1 <ann@one.test>: Recipient address rejected: User unknown", "5.1.1", "5.1.1"],
  ["smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP", "5.1.10", "5.1.10"],
  [
    "smtp; 550-5.1.1 The email account that you tried to reach does not exist.\r\n    550 5.1.1 Try again",
    "5.1.1",
    "5.1.1",
  ],
  ["smtp; 550 No such user here", "5.0.0", "5.1.1"],
  ["smtp; 550 #5.1.1 user unknown", "5.0.0", "5.1.1"],
  ["SMTP; 550 Utilisateur inconnu, boîte inexistante", "5.0.0", "5.1.1"],
  ["X-Postfix; unknown user: ann", "5.1.1", "5.1.1"],
  ['X-Postfix; unknown user: "ann"', "5.1.1", "5.1.1"],
  ["X-Postfix; unknown user: ann", "5.0.0", "5.0.0"],
  ["smtp; host mx.one.test[192.0.2.1] said: 550 5.1.1 User unknown", "5.1.1", "5.1.1"],
  ["smtp;", "5.1.1", "5.1.1"],
  // Some servers derive 5.1.1 from any 550.
  ["SMTP; 550 Message rejected as spam", "5.1.1", "5.0.0"],
  ["smtp; 550 5.7.1 Access denied", "5.1.1", "5.7.1"],
  ["smtp; 550 5.1.1 Sender unknown", "5.1.1", "5.0.0"],
  ["smtp; 550 5.1.1 Absender unbekannt", "5.1.1", "5.0.0"],
  ["smtp; 550 5.1.1 This list does not accept mail from non-members", "5.1.1", "5.0.0"],
  ["smtp; 450 4.2.1 The user you are trying to contact is receiving mail too quickly", "5.1.1", "4.2.1"],
  ["smtp; 552 5.2.2 Mailbox full", "5.2.2", "5.2.2"],
  // Texts without a type, of another type, or in another order.
  [
    "Amazon SES has suppressed sending to this address because it has a recent history of bouncing as an invalid address.",
    "5.1.1",
    "5.0.0",
  ],
  ["x-unix; user over quota", "5.1.1", "5.0.0"],
  ["x-unix; /usr/bin/procmail: Permission denied", "5.1.1", "5.0.0"],
  ["X-Exim; mailbox is full: retry timeout exceeded", "5.1.1", "5.0.0"],
  ["LMTP; 552 5.2.2 quota", "5.1.1", "5.2.2"],
  ["550 5.7.1 blocked using spamhaus", "5.1.1", "5.7.1"],
  ["SMTP: 550 5.7.1 blocked", "5.1.1", "5.7.1"],
  ["smtp; 5.7.1 blocked using spamhaus", "5.1.1", "5.7.1"],
  ["smtp; [192.0.2.1] said: 550 5.7.1 blocked using spamhaus", "5.1.1", "5.7.1"],
  // The client and the sender of the mail.
  ["smtp; 550 <bounces@two.test> mailbox not found", "5.0.0", "5.0.0"],
  ["smtp; 550 5.1.1 bounces@two.test: User unknown", "5.1.1", "5.0.0"],
  ["smtp; 550 out.four.test: user unknown", "5.0.0", "5.0.0"],
])("a failure with the reply %s and the status %s has the code %s", async (reply, status, code) => {
  const fields = [...FAILED.slice(0, 2), `Status: ${status}`, `Diagnostic-Code: ${reply}`];
  expect(await parseDeliveryReport(dsnOf(fields))).toEqual([{ ...ANN, code }]);
});

test("fields may be folded, encoded in Base64 or quoted-printable, and deep in a message", async () => {
  const fields = [
    "Final-Recipient: rfc822;\r\n  ann@one.test",
    "Action: failed",
    "Status:\r\n\t5.1.1",
    "Diagnostic-Code: smtp;\r\n 550 5.1.1\r\n\tUser unknown",
  ].join("\r\n");
  const type = "Content-Type: message/delivery-status";
  const base64 = Buffer.from(`Reporting-MTA: dns; mx\r\n\r\n${fields}`).toString("base64");
  const encoded = [type, "Content-Transfer-Encoding: base64", "", base64.replace(/.{60}/g, "$&\r\n")];
  expect(await parseDeliveryReport(reportOf([HUMAN, encoded]))).toEqual([ANN]);
  const printable = `Reporting-MTA: dns; mx\r\n\r\n${fields}`.replace("ann@", "=61nn=\r\n@");
  const quoted = [type, "Content-Transfer-Encoding: quoted-printable", "", printable];
  const inner = reportOf([HUMAN, quoted]).replaceAll("b/1", "c/2").split("\r\n").slice(3);
  expect(await parseDeliveryReport(reportOf([inner]))).toEqual([ANN]);
});

test("addresses beyond ASCII are read in both forms of RFC 6533", async () => {
  for (const address of ["jörg@one.test", "j\\x{F6}rg@one.test"]) {
    const status = [
      ...["Content-Type: message/global-delivery-status", "", "Reporting-MTA: dns; mx", ""],
      ...[`Final-Recipient: utf-8; ${address}`, ...FAILED.slice(1)],
    ];
    expect(await parseDeliveryReport(reportOf([HUMAN, status]))).toEqual([
      { ...ANN, address: "jörg@one.test" },
    ]);
  }
});

test("a complaint names each recipient, and its withdrawal and a failed signature name none", async () => {
  const complaint = (kind: string) => [
    ...["Content-Type: message/feedback-report", "", `Feedback-Type: ${kind}`, "Version: 1"],
    ...["User-Agent: Loop/1.0", "Original-Rcpt-To: <ann@one.test>", "Original-Rcpt-To: bob@one.test"],
  ];
  const read = (kind: string) => parseDeliveryReport(reportOf([HUMAN, complaint(kind)], "feedback-report"));
  expect(await read("abuse")).toEqual([
    { address: "ann@one.test", kind: "complained", code: null },
    { address: "bob@one.test", kind: "complained", code: null },
  ]);
  expect(await read("not-spam")).toEqual([]);
  expect(await read("auth-failure")).toEqual([]);
});

test("a report inside the returned mail is not read, and other messages are no reports", async () => {
  const inner = dsnOf(["Final-Recipient: rfc822; victim@one.test", ...FAILED.slice(1)]);
  for (const more of [[], ["Content-Disposition: inline"]]) {
    const returned = ["Content-Type: message/rfc822", ...more, "", inner.replaceAll("b/1", "c/2")];
    expect(await parseDeliveryReport(reportOf([HUMAN, returned]))).toEqual([]);
  }
  for (const text of ["", "Hello", `Subject: x\r\n\r\n${FAILED.join("\r\n")}`, "\0".repeat(1000)]) {
    expect(await parseDeliveryReport(text)).toEqual([]);
  }
});

test("a report before a returned mail of 5 MB is read", async () => {
  const returned = ["Content-Type: message/rfc822", "", "Subject: x", "", "y".repeat(5_000_000)];
  expect(
    await parseDeliveryReport(dsnOf(FAILED).replace("--b/1--", `--b/1\r\n${returned.join("\r\n")}`)),
  ).toEqual([ANN]);
});

test("hostile messages are read within two seconds of CPU time", async () => {
  const status = "Content-Type: message/delivery-status";
  const nested = Array.from(
    { length: 5000 },
    (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}`,
  );
  const slow = `Diagnostic-Code: smtp; 550 ${"account ".repeat(60)}`;
  const recipient = [...FAILED.slice(0, 2), slow, ""].join("\r\n");
  for (const message of [
    nested.join("\r\n"),
    reportOf(Array.from({ length: 40_000 }, () => ["", "x"])),
    reportOf([[status, "", "a:\r\n".repeat(250_000)]]),
    reportOf([[status, "", "\r\n ".repeat(300_000)]]),
    reportOf([[status, "", " \r\n".repeat(300_000)]]),
    reportOf(Array.from({ length: 8 }, () => [status, "", `${recipient}\r\n`.repeat(200)])),
    `${"x: y\r\n".repeat(150_000)}\r\n`,
  ]) {
    const began = process.cpuUsage();
    await parseDeliveryReport(message);
    expect(process.cpuUsage(began).user / 1000, message.slice(0, 60)).toBeLessThan(2000);
  }
});
