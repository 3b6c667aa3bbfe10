import * as crypto from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import * as consumers from "node:stream/consumers";
import * as core from "@outrigger/core";
import * as verifier from "@outrigger/verifier";
import express from "express";
import { afterEach, expect, test } from "vitest";
import { createTestLookup } from "./lookup-site.ts";

const guide = await readFile(new URL("../../docs/recipes.md", import.meta.url), "utf8");
const [, section = ""] = /^## Learn from bounces\n(.*?)^## /ms.exec(guide) ?? [];
const blocks = [...section.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""]) => code);
const [LEARN = "", SES = "", POSTMARK = "", SENDGRID = "", PIPE = ""] = blocks;

const MODULES: Record<string, unknown> = {
  "@outrigger/core": core,
  "@outrigger/verifier": verifier,
  "node:crypto": crypto,
  "node:stream/consumers": consumers,
  express,
};

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Runs the code of the guide with what its reader has. @returns the value of `result`, an expression. */
async function runBlock(
  code: string,
  given: Record<string, unknown>,
  result = "undefined",
): Promise<unknown> {
  const body = code.replace(/^import (\{.*\}) from "(.*)";$/gm, (_, names, name) => {
    return `const ${names} = MODULES[${JSON.stringify(name)}];`;
  });
  const names = { ...given, MODULES };
  const run = new Function(...Object.keys(names), `return (async () => { ${body}\nreturn ${result}; })()`);
  return await run(...Object.values(names));
}

/** An app with the route of a block, and the verdicts of its lookup. */
async function startApp(code: string, given: Record<string, unknown> = {}) {
  const { lookup } = await createTestLookup({
    // A mail server that accepts every name at first.
    prober: {
      probe: async () => ({
        ...{ routing: "found", server: true, mailbox: true, acceptsAll: false },
        ...{ reason: null, retryAfterMs: null },
      }),
      close: async () => undefined,
    },
  });
  const app = express();
  const learn = await runBlock(LEARN, { lookup }, "learn");
  await runBlock(code, { app, lookup, learn, ...given });
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await lookup.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const statusesOf = async (...emails: string[]) =>
    Promise.all(emails.map(async (email) => (await lookup.verifyEmail(email)).data.status));
  const post = async (path: string, body: string, headers: Record<string, string>) =>
    (await fetch(`${base}${path}`, { method: "POST", body, headers })).status;
  return { lookup, statusesOf, post };
}

const keys = (type: "rsa" | "ec") =>
  type === "rsa"
    ? crypto.generateKeyPairSync("rsa", { modulusLength: 2048 })
    : crypto.generateKeyPairSync("ec", { namedCurve: "P-256" });

test("the recipe for Amazon SES learns from messages that SNS signed, and refuses others", async () => {
  const { privateKey, publicKey } = keys("rsa");
  const fetched: string[] = [];
  const { statusesOf, post, lookup } = await startApp(SES, {
    fetch: async (url: string) => {
      fetched.push(url);
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
  expect(await send(sign({ ...confirmation, SubscribeURL: "https://evil.example/" }))).toBe(200);
  expect(fetched.at(-1)).toMatch(/\.pem$/);
  expect(fetched.every((each) => each.startsWith("https://sns.eu-west-1.amazonaws.com/"))).toBe(true);
});

test("the recipe for Postmark learns from hard bounces, deliveries and no others, with the right password", async () => {
  process.env.POSTMARK_PASSWORD = "pass:word";
  closing.push(async () => void delete process.env.POSTMARK_PASSWORD);
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
  closing.push(async () => void delete process.env.SENDGRID_PUBLIC_KEY);
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
