/// <reference path="./email-providers.d.ts" />

import type { MailLists } from "@outrigger/core/lookup";
import { checkOptions, type rules, shapes } from "@outrigger/core/stores";
import webmailDomains from "email-providers";
import { ALIAS_DOMAINS } from "./alias-domains.ts";
import { BIG_PROVIDERS, NOT_DISPOSABLE, NOT_WEBMAIL, SUGGESTED_PROVIDERS } from "./big-providers.ts";
import { disposableDomains } from "./disposable-domains.ts";
import { createDomainSuggestions } from "./suggest-domain.ts";

const DOMAINS = shapes.iterable<string>("a list of domains, or anything to iterate over");
const RULES = {
  /** Further webmail domains. @default none */
  addWebmail: DOMAINS,
  /** Further domains of disposable addresses. @default none */
  addDisposable: DOMAINS,
  /** Domains that are neither webmail nor disposable. @default none */
  except: DOMAINS,
};

/** Changes to the built-in lists. Domains are A-labels; each entry also covers its subdomains. */
export interface MailListsOptions extends rules.Options<typeof RULES> {}

/**
 * Lists of domains in memory. If several entries match a domain, the longest name wins; for the same name, an
 * exception wins over an addition, and an addition over the lists. A domain of privacy aliases is disposable or
 * webmail only by an option. Nothing is fetched: the lists are as recent as the installed packages.
 */
export function createMailLists(options: MailListsOptions = {}): MailLists {
  checkOptions("createMailLists", options, RULES);
  const big = new Set(BIG_PROVIDERS);
  const disposable = disposableDomains();
  const notWebmail = new Set(NOT_WEBMAIL);
  const notDisposable = new Set(NOT_DISPOSABLE);
  const webmail = new Set(
    webmailDomains.filter((domain) => !disposable.has(domain) && !notWebmail.has(domain)),
  );
  const added = { webmail: domains(options.addWebmail), disposable: domains(options.addDisposable) };
  const except = domains(options.except);
  const suggest = createDomainSuggestions(SUGGESTED_PROVIDERS);
  const aliases = new Set(ALIAS_DOMAINS);
  const isAlias = (domain: string) => isListed(domain, added.disposable, (name) => aliases.has(name));

  const isWebmail = (domain: string) =>
    isListed(domain, except, (name) => {
      if (added.webmail.has(name) || big.has(name)) return true;
      // Only big providers cover their subdomains: other listed domains sell subdomains to companies.
      return webmail.has(name) && name === domain && !isAlias(domain);
    });

  return {
    isWebmail,
    isDisposable(domain) {
      const isBuiltIn = (name: string) => disposable.has(name) && !big.has(name) && !notDisposable.has(name);
      return isListed(
        domain,
        except,
        (name) => added.disposable.has(name) || (isBuiltIn(name) && !isAlias(domain)),
      );
    },
    isSurelyDisposable: (domain) => isListed(domain, except, (name) => added.disposable.has(name)),
    isAlias,
    suggestDomain(domain) {
      const isKnown = isListed(domain, except, (name) => big.has(name) || added.webmail.has(name));
      return isKnown || except.has(domain) ? null : suggest(domain);
    },
  };
}

/** Tests a domain and then each parent domain, except the top-level domain. */
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
