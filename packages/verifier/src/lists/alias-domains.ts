/**
 * Shared domains of privacy aliases: services that forward mail to a mailbox of the owner, who reads it. An entry
 * covers its subdomains, because some services give each user one.
 */
export const ALIAS_DOMAINS: readonly string[] = [
  // DuckDuckGo, Apple, Firefox Relay
  ..."duck.com privaterelay.appleid.com mozmail.com relay.firefox.com".split(" "),
  // SimpleLogin and Proton Pass
  ..."simplelogin.com simplelogin.co simplelogin.fr simplelogin.io aleeas.com slmail.me slmails.com".split(
    " ",
  ),
  ..."silomails.com dralias.com 8alias.com 8shield.net passmail.net passmail.com passinbox.com".split(" "),
  "passfwd.com",
  // addy.io
  ..."addy.io anonaddy.com anonaddy.me addymail.com 4wrd.cc mailer.me".split(" "),
  // IronVest, StartMail, Cloaked, and smaller ones
  ..."opayq.com use.startmail.com cloaked.id 33mail.com erine.email forwardemail.net spamgourmet.com".split(
    " ",
  ),
  ..."sneakemail.com snkmail.com inboxalias.com burnermail.io".split(" "),
];
