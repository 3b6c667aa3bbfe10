import { createSocket } from "node:dgram";
import { once } from "node:events";
import { decode, encode } from "dns-packet";
import { SMTPServer } from "smtp-server";

/**
 * Ports of a mail server and a name server.
 * @typedef {object} MailPeers
 * @property {number} dnsPort
 * @property {number} mailPort
 */

/**
 * Starts a mail server that has the mailboxes of even numbers, and alice, and a name server that names it as the mail
 * host of every domain. They run until the process ends.
 * @returns {Promise<MailPeers>}
 */
export async function startMailPeers() {
  const mail = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: ["AUTH", "STARTTLS"],
    onRcptTo({ address }, _session, done) {
      const isThere = /^(?:alice|user\d*[02468])@/.test(address);
      done(isThere ? null : Object.assign(new Error("5.1.1 No such user here"), { responseCode: 550 }));
    },
  });
  // Connections that the other side aborts.
  mail.on("error", () => {});
  const listener = mail.listen(0, "127.0.0.1");
  await once(listener, "listening");

  const dns = createSocket("udp4");
  dns.on("message", (message, from) => {
    const query = decode(message);
    const [question] = query.questions ?? [];
    if (question === undefined) return;
    const { name, type } = question;
    const answers =
      type === "MX" && !name.startsWith("mx.")
        ? [{ name, type, ttl: 60, data: { preference: 10, exchange: `mx.${name}` } }]
        : type === "A"
          ? [{ name, type, ttl: 60, data: "127.0.0.1" }]
          : [];
    dns.send(encode({ ...query, type: "response", answers }), from.port, from.address);
  });
  dns.bind(0, "127.0.0.1");
  await once(dns, "listening");
  const bound = listener.address();
  return {
    dnsPort: dns.address().port,
    mailPort: typeof bound === "object" && bound !== null ? bound.port : 0,
  };
}
