import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Answer,
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  type Packet,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
} from "dns-packet";

/** What is known of a name, and how the server behaves when asked about it. */
export interface DnsEntry {
  /** Preference and exchange; `"."` is the root. */
  MX?: readonly (readonly [number, string])[];
  A?: readonly string[];
  AAAA?: readonly string[];
  CNAME?: string;
  NS?: readonly string[];
  /** Instead of records: 2 is SERVFAIL, 5 is REFUSED. */
  rcode?: number;
  /** Does not answer at all. */
  drops?: boolean;
  /** The first so many questions are dropped. */
  dropsFirst?: number;
  delayMs?: number;
  /** Takes turns with `A`, beginning with the second question. */
  alternateA?: readonly string[];
}

/** A name server of the test's own, on a free port of the loopback, by UDP and TCP. */
export interface DnsServer {
  /** As `setServers` takes it. */
  address: string;
  /**
   * By lower-case name; may be changed at any time. A name that is not here does not exist, except a top-level domain.
   */
  zone: Record<string, DnsEntry>;
  /** Questions so far, such as `MX example.test`. */
  questions: string[];
  /** How many of them came by TCP. */
  tcpQuestions(): number;
  close(): Promise<void>;
}

const MAX_UDP_BYTES = 512;
const ADDRESS_TYPES = ["A", "AAAA"] as const;

export async function startDnsServer(zone: Record<string, DnsEntry> = {}): Promise<DnsServer> {
  const questions: string[] = [];
  const asked = new Map<string, number>();
  const sockets = new Set<Socket>();
  let tcpQuestions = 0;

  async function answer(query: Packet, isUdp: boolean): Promise<Buffer | null> {
    const [question] = query.questions ?? [];
    if (question === undefined) return null;
    const name = question.name.toLowerCase();
    const entry = entryOf(name);
    const label = `${question.type} ${name}`;
    questions.push(label);
    const times = (asked.get(label) ?? 0) + 1;
    asked.set(label, times);
    if (entry?.drops || times <= (entry?.dropsFirst ?? 0)) return null;
    if (entry?.delayMs !== undefined) await delay(entry.delayMs);
    const flags = RECURSION_DESIRED | RECURSION_AVAILABLE | AUTHORITATIVE_ANSWER;
    const reply: Packet = {
      type: "response",
      id: query.id ?? 0,
      flags: flags | (entry === undefined ? 3 : (entry.rcode ?? 0)),
      questions: [question],
      answers: entry?.rcode === undefined ? recordsOf(name, question.type, times) : [],
    };
    const bytes = encode(reply);
    if (!isUdp || bytes.length <= MAX_UDP_BYTES) return bytes;
    return encode({ ...reply, flags: (reply.flags ?? 0) | TRUNCATED_RESPONSE, answers: [] });
  }

  /** Every top-level domain has a name server, as with a resolver of the public DNS. */
  function entryOf(name: string): DnsEntry | undefined {
    return zone[name] ?? (name.includes(".") ? undefined : { NS: [`ns.${name}`] });
  }

  function recordsOf(name: string, type: string, times: number, depth = 0): Answer[] {
    const entry = entryOf(name);
    if (entry === undefined || depth > 5) return [];
    if (entry.CNAME !== undefined) {
      const target = entry.CNAME;
      return [{ name, type: "CNAME", ttl: 30, data: target }, ...recordsOf(target, type, times, depth + 1)];
    }
    if (type === "MX") {
      return (entry.MX ?? []).map(([preference, exchange]) => ({
        ...{ name, type: "MX", ttl: 30 },
        data: { preference, exchange },
      }));
    }
    if (type === "NS") return (entry.NS ?? []).map((data) => ({ name, type: "NS", ttl: 30, data }));
    if (!ADDRESS_TYPES.some((known) => known === type)) return [];
    const addresses =
      type === "AAAA"
        ? entry.AAAA
        : entry.alternateA !== undefined && times % 2 === 0
          ? entry.alternateA
          : entry.A;
    return (addresses ?? []).map((data) => ({ name, type: type === "AAAA" ? "AAAA" : "A", ttl: 30, data }));
  }

  const udp = createSocket("udp4");
  udp.on("message", async (message: Buffer, from: RemoteInfo) => {
    const bytes = await answer(decode(message), true);
    // A test may be over before a slow answer is due.
    if (bytes !== null && !isClosed) udp.send(bytes, from.port, from.address);
  });
  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let rest = Buffer.alloc(0);
    socket.on("data", async (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
        const end = 2 + rest.readUInt16BE(0);
        const query = decode(rest.subarray(2, end));
        rest = rest.subarray(end);
        tcpQuestions++;
        const bytes = await answer(query, false);
        if (bytes === null || socket.destroyed) continue;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(bytes.length);
        socket.write(Buffer.concat([length, bytes]));
      }
    });
  });
  let isClosed = false;

  // The port that one of them has got may be taken for the other.
  for (let attempt = 1; ; attempt++) {
    tcp.listen(0, "127.0.0.1");
    await once(tcp, "listening");
    const bound = tcp.address();
    const port = typeof bound === "object" && bound !== null ? bound.port : 0;
    udp.bind(port, "127.0.0.1");
    try {
      await once(udp, "listening");
      return {
        address: `127.0.0.1:${port}`,
        zone,
        questions,
        tcpQuestions: () => tcpQuestions,
        async close() {
          isClosed = true;
          for (const socket of sockets) socket.destroy();
          await Promise.all([
            new Promise<void>((resolve) => udp.close(() => resolve())),
            new Promise((resolve) => tcp.close(resolve)),
          ]);
        },
      };
    } catch (error) {
      await new Promise((resolve) => tcp.close(resolve));
      if (attempt === 5) throw error;
    }
  }
}
