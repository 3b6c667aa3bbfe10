import * as crypto from "node:crypto";
import { Readable } from "node:stream";
import express from "express";
import express4 from "express-4";
import { expect, onTestFinished, test } from "vitest";
import { PIPE, POSTMARK, SENDGRID, SES, startApp } from "./recipe-app.ts";

const keys = (type: "rsa" | "ec") =>
  type === "rsa"
    ? crypto.generateKeyPairSync("rsa", { modulusLength: 2048 })
    : crypto.generateKeyPairSync("ec", { namedCurve: "P-256" });

/** URLs of AWS where anyone can have a key: buckets, and replies to queries. */
const FOREIGN_CERTIFICATES = [
  "https://sns.s3.amazonaws.com/SimpleNotificationService-0123abcd.pem",
  "https://sns.s3-us-west-2.amazonaws.com/SimpleNotificationService-0123abcd.pem",
  "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123abcd.pem",
  "https://sns.eu-west-1.amazonaws.com/?Action=GetTopicAttributes&Name=SimpleNotificationService-0123abcd.pem",
  "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-/../?Action=GetTopicAttributes&x=-0123abcd.pem",
  "https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-0123abcd.pem",
];

test("the recipe for Amazon SES learns from messages that SNS signed, and refuses others", async () => {
  const { privateKey, publicKey } = keys("rsa");
  const fetched: string[] = [];
  const requested: RequestInit[] = [];
  const { statusesOf, post, lookup } = await startApp(SES, {
    fetch: async (url: string, options: RequestInit = {}) => {
      fetched.push(url);
      requested.push(options);
      return new Response(String(publicKey.export({ type: "spki", format: "pem" })));
    },
  });
  const topic = /const TOPIC = "(.*)"/.exec(SES)?.[1] ?? "";
  const sign = (fields: Record<string, string>, version = "1"): Record<string, string> => {
    const message: Record<string, string> = {
      ...{ Type: "Notification", MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324", TopicArn: topic },
      ...{ Timestamp: "2026-03-01T12:00:00.000Z", SignatureVersion: version, ...fields },
      SigningCertURL: "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123abcd.pem",
    };
    // The order of the documentation of SNS.
    const names =
      message.Type === "Notification"
        ? ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
        : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
    const signed = names.filter((name) => name in message).map((name) => `${name}\n${message[name]}\n`);
    const digest = version === "2" ? "RSA-SHA256" : "RSA-SHA1";
    return {
      ...message,
      Signature: crypto.createSign(digest).update(signed.join("")).sign(privateKey, "base64"),
    };
  };
  const send = (message: object) =>
    post("/webhooks/ses", JSON.stringify(message), { "Content-Type": "text/plain; charset=UTF-8" });
  const mail = {
    ...{ timestamp: "2026-03-01T11:59:59.000Z", source: "news@two.example", messageId: "0102-0" },
    destination: ["gone@one.example"],
  };
  const bounce = (bounceSubType: string, ...bouncedRecipients: object[]) => ({
    ...{ bounceType: "Permanent", bounceSubType, bouncedRecipients, feedbackId: "0102-1" },
    ...{ timestamp: "2026-03-01T12:00:00.000Z", reportingMTA: "dsn; a1.eu-west-1.amazonses.com" },
  });
  const recipient = (emailAddress: string, status: string) => ({
    ...{ emailAddress, action: "failed", status, diagnosticCode: `smtp; 550 ${status} said so` },
  });
  const events = [
    {
      notificationType: "Bounce",
      bounce: bounce(
        "General",
        recipient("gone@one.example", "5.1.1"),
        recipient("full@one.example", "5.2.2"),
      ),
    },
    { eventType: "Bounce", bounce: bounce("NoEmail", recipient("Left <left@one.example>", "5.1.1")) },
    {
      eventType: "Bounce",
      bounce: bounce("OnAccountSuppressionList", recipient("annoyed@one.example", "5.1.1")),
    },
    { eventType: "Bounce", bounce: bounce("Suppressed", recipient("once@one.example", "5.1.1")) },
    {
      notificationType: "Complaint",
      complaint: {
        ...{ complainedRecipients: [{ emailAddress: "angry@one.example" }], feedbackId: "0102-2" },
        ...{ complaintFeedbackType: "abuse", userAgent: "Feedback-Generator/1.0" },
      },
    },
    { eventType: "Delivery", delivery: { recipients: ["back@one.example"], processingTimeMillis: 546 } },
    { eventType: "Open", open: { ipAddress: "192.0.2.1" } },
  ];
  await lookup.report("back@one.example", { kind: "bounced", code: "5.1.1" });
  await lookup.suppress("gone@two.example");
  const all = ["gone", "full", "left", "annoyed", "once", "angry", "back"].map(
    (name) => `${name}@one.example`,
  );
  for (const [index, event] of events.entries()) {
    const message = sign({ Message: JSON.stringify({ ...event, mail }) }, index % 2 === 0 ? "1" : "2");
    expect(await send({ ...message, Message: `${message.Message} ` })).toBe(403);
    expect(await send({ ...message, TopicArn: `${topic}-other` })).toBe(403);
    expect(await send({ ...message, SigningCertURL: "https://sns.evil.example/key.pem" })).toBe(403);
    expect(await send({ ...message, SigningCertURL: "https://sns.amazonaws.com.evil.example/" })).toBe(403);
    for (const foreign of FOREIGN_CERTIFICATES) {
      expect(await send({ ...message, SigningCertURL: foreign }), foreign).toBe(403);
    }
    expect(await send(message)).toBe(200);
  }
  expect(await statusesOf(...all)).toEqual([
    "invalid",
    "valid",
    "invalid",
    "valid",
    "valid",
    "valid",
    "valid",
  ]);
  const subject = sign({ Message: JSON.stringify(events[5]), Subject: "Amazon SES" });
  expect(await send(subject)).toBe(200);
  const suppressed = bounce("General", recipient("gone@two.example", "5.1.1"));
  const refused = sign({ Message: JSON.stringify({ eventType: "Bounce", bounce: suppressed, mail }) });
  expect(await send(refused)).toBe(200);
  const url = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=x&Token=t";
  const confirmation = {
    Type: "SubscriptionConfirmation",
    Message: "You chose",
    Token: "t",
    SubscribeURL: url,
  };
  expect(await send(sign(confirmation, "2"))).toBe(200);
  expect(fetched.at(-1)).toBe(url);
  for (const other of [
    "https://evil.example/",
    url.replace("Confirm", "Un"),
    url.replace("eu-west-1", "s3"),
  ]) {
    expect(await send(sign({ ...confirmation, SubscribeURL: other }))).toBe(200);
    expect(fetched.at(-1), other).toMatch(/\.pem$/);
  }
  const long = bounce("General", ...Array.from({ length: 50 }, () => recipient("full@one.example", "5.2.2")));
  const padded = { eventType: "Bounce", bounce: long, mail: { ...mail, headers: "x".repeat(200_000) } };
  expect(await send(sign({ Message: JSON.stringify(padded) }))).toBe(200);
  expect(requested.every(({ redirect }) => redirect === "error")).toBe(true);
  expect(fetched.every((each) => each.startsWith("https://sns.eu-west-1.amazonaws.com/"))).toBe(true);
});

test("the recipe for Postmark learns from hard bounces, deliveries and no others, with the right password", async () => {
  process.env.POSTMARK_PASSWORD = "pass:word";
  onTestFinished(() => void delete process.env.POSTMARK_PASSWORD);
  const { statusesOf, post, lookup } = await startApp(POSTMARK);
  const send = (event: object, login = "outrigger:pass:word") =>
    post("/webhooks/postmark", JSON.stringify(event), {
      "Content-Type": "application/json",
      Authorization: `Basic ${btoa(login)}`,
    });
  const bounce = (Email: string, Type: string, Details: string, TypeCode = 1) => ({
    ...{ RecordType: "Bounce", ID: 4_323_372_036_854_775_807n.toString(), Type, TypeCode, Name: "Bounce" },
    ...{ MessageID: "883953f4-6105-42a2-a16a-77a8eac79483", ServerID: 23, MessageStream: "outbound" },
    ...{ Email, From: "news@two.example", BouncedAt: "2026-03-01T12:00:00Z", Details, Inactive: true },
  });
  await lookup.report("back@one.example", { kind: "bounced", code: "5.1.1" });
  const gone = bounce(
    "gone@one.example",
    "HardBounce",
    "smtp;550 5.1.1 The email account that you tried to reach does not exist.",
  );
  for (const login of ["outrigger:wrong", "outrigger:pass:worx", ""])
    expect(await send(gone, login)).toBe(401);
  expect(await statusesOf("gone@one.example")).toEqual(["valid"]);
  for (const event of [
    gone,
    bounce("full@one.example", "SoftBounce", "smtp;552 5.2.2 Over quota", 4096),
    bounce("spam@one.example", "SpamNotification", "smtp;550 5.1.1 looks like spam", 512),
    bounce("other@one.example", "HardBounce", "smtp;554 delivery error: dd Not a valid recipient"),
    bounce("policy@one.example", "HardBounce", "smtp;550 5.7.1 see 5.1.1"),
    { RecordType: "SpamComplaint", Email: "angry@one.example", Type: "SpamComplaint", TypeCode: 100001 },
    { RecordType: "Delivery", Recipient: "back@one.example", Details: "Test delivery webhook details" },
    { RecordType: "Open", Recipient: "gone@one.example", FirstOpen: true },
  ]) {
    expect(await send(event)).toBe(200);
  }
  const all = ["gone", "full", "spam", "other", "policy", "angry", "back"].map(
    (name) => `${name}@one.example`,
  );
  expect(await statusesOf(...all)).toEqual(["invalid", "valid", "valid", "valid", "valid", "valid", "valid"]);
});

test("the recipe for SendGrid learns from signed events only", async () => {
  const { privateKey, publicKey } = keys("ec");
  process.env.SENDGRID_PUBLIC_KEY = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  onTestFinished(() => void delete process.env.SENDGRID_PUBLIC_KEY);
  const { statusesOf, post, lookup } = await startApp(SENDGRID);
  await lookup.report("back@one.example", { kind: "bounced", code: "5.1.1" });
  const of = (name: string, event: string, more: object = {}) => ({
    ...{
      email: `${name}@one.example`,
      timestamp: 1_772_366_400,
      event,
      sg_event_id: name,
      sg_message_id: "14c5",
    },
    ...more,
  });
  const events = [
    of("gone", "bounce", { type: "bounce", status: "5.1.1", reason: "550 5.1.1 User unknown" }),
    of("blocked", "bounce", { type: "blocked", status: "5.1.1", reason: "550 blocked" }),
    of("full", "bounce", { type: "bounce", status: "5.2.2", reason: "552 full" }),
    of("odd", "bounce", { type: "bounce", status: "", reason: "unknown" }),
    of("bare", "bounce", { type: "bounce", reason: "550" }),
    of("late", "deferred", { response: "400 try again later" }),
    of("dropped", "dropped", { reason: "Bounced Address", status: "5.1.1" }),
    of("angry", "spamreport"),
    of("back", "delivered", { response: "250 OK" }),
  ];
  const body = `${JSON.stringify(events)}\r\n`;
  const send = (text: string, timestamp = "1772366401", signed = timestamp + body) =>
    post("/webhooks/sendgrid", text, {
      "Content-Type": "application/json",
      "X-Twilio-Email-Event-Webhook-Timestamp": timestamp,
      "X-Twilio-Email-Event-Webhook-Signature": crypto
        .sign("sha256", Buffer.from(signed), privateKey)
        .toString("base64"),
    });
  expect(await send(`${body} `)).toBe(403);
  expect(await send(body, "1772366402", `1772366401${body}`)).toBe(403);
  expect(await post("/webhooks/sendgrid", body, { "Content-Type": "application/json" })).toBe(403);
  expect(await statusesOf("gone@one.example")).toEqual(["valid"]);
  expect(await send(body)).toBe(200);
  const all = events.map(({ email }) => email);
  const valid = all.slice(1).map(() => "valid");
  expect(await statusesOf(...all)).toEqual(["invalid", ...valid]);
});

test("the recipe for Postmark needs a password", async () => {
  delete process.env.POSTMARK_PASSWORD;
  await expect(startApp(POSTMARK)).rejects.toThrow("Set POSTMARK_PASSWORD");
});

test.each([
  ["Express 4", express4],
  ["Express 5", express],
])("the recipes for webhooks answer a bad body with an error in %s", async (_name, framework) => {
  process.env.POSTMARK_PASSWORD = "password";
  process.env.SENDGRID_PUBLIC_KEY = keys("ec")
    .publicKey.export({ type: "spki", format: "der" })
    .toString("base64");
  onTestFinished(() => void delete process.env.POSTMARK_PASSWORD);
  onTestFinished(() => void delete process.env.SENDGRID_PUBLIC_KEY);
  const recipes = [SES, POSTMARK, SENDGRID].map((code) => `{\n${code}\n}`);
  const { post } = await startApp(recipes.join("\n"), {}, framework);
  const headers = {
    ...{ "Content-Type": "application/json", Authorization: `Basic ${btoa("outrigger:password")}` },
  };
  for (const body of ["", "{", "null", "[]", "5", '{"SigningCertURL":5}']) {
    for (const path of ["ses", "postmark", "sendgrid"]) {
      const status = await post(`/webhooks/${path}`, body, headers);
      // Postmark's own password came with it.
      if (path !== "postmark" || body === "{") expect(status, `${path} ${body}`).toBeGreaterThanOrEqual(400);
    }
  }
  const odd = { RecordType: "Bounce", Type: "HardBounce", Details: { toString: "no function" } };
  expect(await post("/webhooks/postmark", JSON.stringify(odd), headers)).toBe(500);
});

test("the recipe for returned mail learns from a delivery report on its standard input", async () => {
  const message = [
    "From: MAILER-DAEMON@mx.two.example",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    ...["", "--b", "Content-Type: message/delivery-status", "", "Reporting-MTA: dns; mx.two.example", ""],
    ...["Final-Recipient: rfc822; gone@one.example", "Action: failed", "Status: 5.1.1", ""],
    ...["Final-Recipient: rfc822; full@one.example", "Action: failed", "Status: 5.2.2", "", "--b--"],
  ].join("\r\n");
  const { statusesOf } = await startApp(PIPE, { process: { stdin: Readable.from([Buffer.from(message)]) } });
  expect(await statusesOf("gone@one.example", "full@one.example")).toEqual(["invalid", "valid"]);
});
