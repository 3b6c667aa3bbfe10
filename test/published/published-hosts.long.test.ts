import { PLAIN_HOSTS } from "./plain-hosts.ts";
import { servesTheFlow } from "./published-hosts.ts";

/** The hosts that most apps have; plain-hosts.nightly.test.ts has all. */
const USUAL = ["[Express 5](#express)", "[Koa 3](#koa)", "[Hono](#hono) on Node"];
servesTheFlow(PLAIN_HOSTS.filter(({ host }) => USUAL.includes(host)));
