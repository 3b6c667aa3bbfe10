/// <reference path="./email-providers.d.ts" />

import type { MailLists } from "@outrigger/core";
import { checkOptions, type RuleTable, shapes } from "@outrigger/core/stores";
import webmailDomains from "email-providers";
import mailchecker from "mailchecker";
import { BIG_PROVIDERS, NOT_WEBMAIL, SUGGESTED_PROVIDERS } from "./big-providers.ts";
import { createDomainSuggestions } from "./suggest-domain.ts";

/** Layers over the lists that come with it. Domains are A-labels; subdomains of those named here are meant, too. */
export interface MailListsOptions {
  /** Instead of the list of webmail. @default email-providers, without disposable ones and companies' own */
  webmail?: Iterable<string>;
  /** Instead of the list of disposable addresses. @default mailchecker, without big providers */
  disposable?: Iterable<string>;
  /** More webmail. @default none */
  addWebmail?: Iterable<string>;
  /** More disposable addresses. @default none */
  addDisposable?: Iterable<string>;
  /** Is no webmail, whatever the lists say. @default none */
  exceptWebmail?: Iterable<string>;
  /** Is not disposable, whatever the lists say. @default none */
  exceptDisposable?: Iterable<string>;
}

const DOMAINS = shapes.iterable("a list of domains, or anything to iterate over");
const RULES = {
  webmail: DOMAINS,
  disposable: DOMAINS,
  addWebmail: DOMAINS,
  addDisposable: DOMAINS,
  exceptWebmail: DOMAINS,
  exceptDisposable: DOMAINS,
} satisfies RuleTable<MailListsOptions>;

/**
 * Lists of domains in memory. Where several entries are about a domain, the longest name counts; of the same name, an
 * exception before an addition before the lists. Nothing is fetched: the lists are as new as the packages are.
 */
export function createMailLists(options: MailListsOptions = {}): MailLists {
  checkOptions("createMailLists", options, RULES);
  const big = new Set(BIG_PROVIDERS);
  // The packages' own set, which is large and is not changed here.
  const disposable = options.disposable === undefined ? mailchecker.blacklist() : domains(options.disposable);
  const notWebmail = new Set(NOT_WEBMAIL);
  const webmail =
    options.webmail === undefined
      ? new Set(webmailDomains.filter((domain) => !disposable.has(domain) && !notWebmail.has(domain)))
      : domains(options.webmail);
  const hasBig = options.webmail === undefined;
  const added = { webmail: domains(options.addWebmail), disposable: domains(options.addDisposable) };
  const except = { webmail: domains(options.exceptWebmail), disposable: domains(options.exceptDisposable) };
  const suggest = createDomainSuggestions(SUGGESTED_PROVIDERS);

  const isWebmail = (domain: string) =>
    isListed(domain, except.webmail, (name) => {
      if (added.webmail.has(name) || (hasBig && big.has(name))) return true;
      // Some of the others sell names below their own, which are companies.
      return webmail.has(name) && (name === domain || !hasBig);
    });

  return {
    isWebmail,
    isDisposable: (domain) =>
      isListed(
        domain,
        except.disposable,
        (name) => added.disposable.has(name) || (disposable.has(name) && !big.has(name)),
      ),
    suggestDomain(domain) {
      const isKnown = isListed(domain, except.webmail, (name) => big.has(name) || added.webmail.has(name));
      return isKnown || except.webmail.has(domain) ? null : suggest(domain);
    },
  };
}

/** Asks about a domain, then about what it is below of, but not about the last label. */
function isListed(domain: string, except: ReadonlySet<string>, has: (name: string) => boolean): boolean {
  let name = domain;
  for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".")) {
    if (except.has(name)) return false;
    if (has(name)) return true;
    name = name.slice(dot + 1);
  }
  return false;
}

function domains(names: Iterable<string> = []): Set<string> {
  return new Set(Array.from(names, (name) => name.trim().toLowerCase().replace(/\.$/, "")));
}
