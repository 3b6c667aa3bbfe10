import { describe, expect, test } from "vitest";
import { CONFIRMED, createGate, known, siteOf, used } from "../../test/lookup-library-site.ts";
import { createScriptedProber } from "../../test/lookup-site.ts";
import { createMemoryContactSource } from "./memory/memory-contact-source.ts";

describe("a library call of the lookup", () => {
  const reason = new Error("the visitor left");

  test("with an aborted signal rejects with its reason, probes nothing and costs nothing", async () => {
    const prober = createScriptedProber(async () => CONFIRMED);
    const site = await siteOf({ prober });
    const options = { account: site.account, signal: AbortSignal.abort(reason) };
    await expect(site.lookup.verifyEmail("new@example.com", options)).rejects.toBe(reason);
    await expect(site.lookup.searchDomain({ domain: "example.com" }, options)).rejects.toBe(reason);
    expect(prober.asked).toEqual([]);
    expect(await used(site)).toEqual([0, 0]);
  });

  test("rejects at once when its signal aborts, and the work goes on and is counted", async () => {
    const [begun, gate] = [createGate(), createGate()];
    const prober = createScriptedProber(async () => {
      begun.open();
      await gate.opened;
      return CONFIRMED;
    });
    const site = await siteOf({ prober });
    const { lookup, account } = site;
    const controller = new AbortController();
    const call = lookup.verifyEmail("new@example.com", { account, signal: controller.signal });
    await begun.opened;
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    gate.open();
    expect((await lookup.verifyEmail("new@example.com")).data).toMatchObject({ status: "valid" });
    await lookup.verifyEmail("new@example.com", { account });
    expect(await used(site)).toEqual([0, 1]);
    expect(prober.asked).toHaveLength(1);
  });
});

test("close() waits for running calls, also for aborted ones, and rejects new calls with overloaded", async () => {
  const [begun, gate] = [createGate(), createGate()];
  const events: string[] = [];
  const contacts = createMemoryContactSource({ contacts: known });
  const search = contacts.search.bind(contacts);
  const close = contacts.close.bind(contacts);
  contacts.search = async (...given) => {
    begun.open();
    await gate.opened;
    events.push("searched");
    return search(...given);
  };
  contacts.close = () => {
    events.push("closed");
    return close();
  };
  const { lookup } = await siteOf({ contacts });
  const controller = new AbortController();
  const stays = lookup.searchDomain({ domain: "example.com" });
  const leaves = lookup.searchDomain({ domain: "example.com" }, { signal: controller.signal });
  await begun.opened;
  controller.abort();
  await expect(leaves).rejects.toBe(controller.signal.reason);
  const closed = lookup.close();
  await expect(lookup.verifyEmail("a@b.example")).rejects.toMatchObject({ code: "overloaded" });
  gate.open();
  expect((await stays).data.emails).toHaveLength(3);
  await closed;
  expect(events).toEqual(["searched", "searched", "closed"]);
});
