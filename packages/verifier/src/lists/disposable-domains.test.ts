import { domainToASCII } from "node:url";
import { describe, expect, test } from "vitest";
import { ALIAS_DOMAINS } from "./alias-domains.ts";
import { BIG_PROVIDERS, BUSINESS_MAIL_HOSTS, NOT_DISPOSABLE } from "./big-providers.ts";
import { disposableDomains } from "./disposable-domains.ts";
import { createMailLists } from "./mail-lists.ts";

const lists = createMailLists();

/** Companies, institutions and media that everybody knows. Some public lists contain such names. */
const ORGANISATIONS = `
  3ds.com aa.com abb.com abbvie.com abnamro.com accenture.com acme.com adidas.com adobe.com airbnb.com
  airbus.com airfrance.fr akzonobel.com aldi.com alibaba.com allianz.com allianz.de amazon.com amd.com
  amgen.com ansys.com apache.org apple.com asana.com asml.com astrazeneca.com atlassian.com att.com
  audi.com autodesk.com avast.com axa.com baesystems.com baidu.com bain.com bankofamerica.com barclays.com
  basecamp.com basf.com bayer.com bbc.co.uk bbva.com bcg.com berkeley.edu berlin.de bhp.com blackrock.com
  bloomberg.com bms.com bmw.com bmw.de bnpparibas.com boeing.com booking.com bosch.com bosch.de bp.com
  bradesco.com.br broadcom.com bt.com bund.de bytedance.com cam.ac.uk canonical.com canva.com capgemini.com
  carlsberg.com carrefour.com chase.com chevron.com cisco.com citi.com citigroup.com citrix.com
  cloudflare.com cnn.com coca-cola.com comcast.com commbank.com.au commerzbank.com conocophillips.com
  continental.com costco.com credit-agricole.fr credit-suisse.com cvs.com daimler.com danone.com
  databricks.com datadoghq.com db.com debian.org dell.com deloitte.com delta.com deutsche-bank.de
  deutschepost.de dfg.de dhl.com diageo.com digitalocean.com disney.com docker.com dropbox.com easyjet.com
  economist.com edeka.de edf.fr elastic.co elsevier.com embraer.com.br enel.com engie.com eni.com eon.com
  epfl.ch equinor.com ergo.de ericsson.com eset.com ethz.ch europa.eu example.com example.net example.org
  expedia.com exxonmobil.com ey.com facebook.com facebookmail.com fedex.com ferrari.com fiat.com figma.com
  forbes.com ford.com fraunhofer.de fresenius.com ft.com fujitsu.com gandi.net gazprom.ru ge.com gilead.com
  github.com gitlab.com gm.com godaddy.com goldmansachs.com google.com gsk.com harvard.edu hashicorp.com
  hdfcbank.com heineken.com henkel.com heroku.com hetzner.com hilton.com hitachi.com hm.com homedepot.com
  honda.com hp.com hpe.com hsbc.com huawei.com hubspot.com hyundai.com iana.org iberdrola.com ibm.com
  icann.org icicibank.com ietf.org ikea.com imf.org inditex.com infineon.com infomaniak.com infosys.com
  ing.com intel.com intesasanpaolo.com intuit.com ionos.com itau.com.br jd.com jetbrains.com jnj.com
  jpmorgan.com jpmorganchase.com kaspersky.com kia.com klarna.com kone.com kpmg.com kpn.com kroger.com
  lego.com lenovo.com lg.com lidl.com lilly.com linde.com linkedin.com lloydsbank.com lockheedmartin.com
  loreal.com lowes.com lufthansa.com lvmh.com lyft.com maersk.com mailchimp.com marriott.com mastercard.com
  mathworks.com mazda.com mcdonalds.com mckinsey.com mercedes-benz.com merck.com meta.com michelin.com
  micron.com microsoft.com miro.com mit.edu moderna.com mongodb.com morganstanley.com mozilla.org mpg.de
  munichre.com namecheap.com nasa.gov nature.com nec.com nestle.com netapp.com netflix.com nike.com
  nissan.com nokia.com northropgrumman.com notion.so novartis.com novonordisk.com nus.edu.sg nvidia.com
  nytimes.com oracle.com orange.com otto.de ovh.com ovhcloud.com ox.ac.uk panasonic.com paypal.com
  pepsico.com petrobras.com.br peugeot.com pfizer.com pg.com philips.com pirelli.com porsche.com puma.com
  pwc.com qantas.com.au qualcomm.com raytheon.com redcross.org redhat.com reliance.com renault.com
  repsol.com reuters.com rewe.de riotinto.com roche.com rolls-royce.com rwe.com ryanair.com
  safran-group.com sage.com sainsburys.co.uk salesforce.com samsung.com sanofi.com santander.com sap.com
  sberbank.ru schneider-electric.com seagate.com sendgrid.com servicenow.com shell.com shopify.com
  siemens.com slack.com sncf.fr snowflake.com societegenerale.com sony.com sparkasse.de spotify.com
  springer.com squarespace.com squareup.com stanford.edu starbucks.com strato.de stripe.com subaru.com
  suse.com swisscom.com swissre.com t-mobile.com t-systems.com talanx.com target.com tata.com tcs.com
  telefonica.com telekom.de telenor.com telstra.com tencent.com tesco.com tesla.com thalesgroup.com
  theguardian.com ti.com tiktok.com toshiba.com total.com totalenergies.com toyota.com trello.com
  tripadvisor.com trumpf.com tum.de twilio.com twitter.com u-tokyo.ac.jp uber.com ubs.com ubuntu.com un.org
  unicredit.eu unilever.com united.com unitedhealthgroup.com ups.com vale.com verizon.com vinci.com
  visa.com vmware.com vodafone.com volkswagen.com volkswagen.de volvo.com w3.org walgreens.com walmart.com
  washingtonpost.com wdc.com wellsfargo.com who.int wikimedia.org wikipedia.org wiley.com wipro.com wix.com
  workday.com worldbank.org wsj.com xero.com xiaomi.com yandex-team.ru zalando.com zalando.de zeiss.com
  zendesk.com zoho.com zoom.us zurich.com`.trim();

/** Webmail and access providers, beside those of BIG_PROVIDERS. */
const PROVIDERS = `
  139.com 188.com 189.cn 21cn.com airmail.cc aliceadsl.fr ameritech.net angi.com aon.at arcor.de
  autistici.org azet.sk bbox.fr belgacom.net biglobe.ne.jp bigmir.net bluemail.ch bredband.net casema.nl
  cegetel.net centurylink.net centurytel.net chello.at citromail.hu club-internet.fr cock.li collector.org
  consultant.com countermail.com dir.bg disroot.org docomo.ne.jp dr.com eastlink.ca eircom.net email.cz
  engineer.com europe.com excite.com ezweb.ne.jp fibertel.com.ar freemail.gr freemail.hu frontier.com
  gmx.co.uk gmx.us hetnet.nl hispeed.ch home.nl hush.com hushmail.com hushmail.me i.softbank.jp i.ua
  ig.com.br iinet.net.au in.gr inbox.com inbox.lv indiatimes.com internode.on.net iol.pt jubii.dk kakao.com
  kolabnow.com kolumbus.fi kpnmail.nl lavabit.com live.ca live.se luukku.com lycos.com mail.bg mail.dk
  mail.ee mail2world.com mailfence.com mailo.com mbta.org meta.ua migadu.com mindspring.com mta.com
  mweb.co.za mynet.com myrambler.ru myself.com narod.ru nate.com net.hr netscape.net netzero.net nifty.com
  nmsu.com numericable.fr nus.edu.sg o2.co.uk ocn.ne.jp oi.com.br online.de online.no optimum.net
  optonline.net orange.net otenet.gr pacbell.net photographer.net plusnet.com pochta.ru post.com post.cz
  posteo.net prodigy.net prodigy.net.mx q.com qwest.net rediff.com riseup.net roadrunner.com rr.com
  runbox.com safe-mail.net sapo.pt sasktel.net saunalahti.fi scarlet.be sify.com siol.net so-net.ne.jp
  soverin.net spray.se startmail.com sunrise.ch suomi24.fi superonline.com swbell.net techie.com telia.com
  telkomsa.net terra.es tiscali.co.uk tom.com tut.by usa.com usa.net vfemail.net videotron.ca vip.qq.com
  vodafone.de volny.cz windowslive.com windstream.net writeme.com wto.com xs4all.nl xtra.co.nz zoznam.sk`.trim();

describe("the built-in list of disposable domains", () => {
  test("contains neither well-known organisations nor providers, nor their subdomains", () => {
    const known = [...ORGANISATIONS.split(/\s+/), ...PROVIDERS.split(/\s+/), ...BIG_PROVIDERS];
    const names = ["", "mail.", "account.", "news."].flatMap((sub) => known.map((domain) => sub + domain));
    expect(names.length).toBeGreaterThan(2800);
    expect(names.filter(lists.isDisposable)).toEqual([]);
  });

  test("contains no public suffix and no name that only institutions get", () => {
    const suffixes = "com.ar net.ua org.ua web.id my.id edu.pl edu.kg zp.ua co.uk com.au".split(" ");
    const names = [...suffixes, "tulsa.gov", "bbs.edu", "dallas.gov"];
    expect(names.filter(lists.isDisposable)).toEqual([]);
  });

  test("contains services of disposable addresses, with their subdomains", () => {
    const domains = [
      "10minutemail.com",
      "000webmail.ddnss.de",
      "zzz.com",
      "1pad.de",
      "inbox.1pad.de",
      "yopmail.com",
    ];
    expect(domains.filter((domain) => !lists.isDisposable(domain))).toEqual([]);
  });

  test("has the reviewed list, each entry in the form in which domains are compared", () => {
    const entries = [...disposableDomains()];
    expect(entries.length).toBeGreaterThan(8000);
    expect(entries.filter((entry) => domainToASCII(entry) !== entry)).toEqual([]);
  });
});

describe("privacy aliases", () => {
  test("are neither disposable nor webmail, with their subdomains", () => {
    const names = ALIAS_DOMAINS.flatMap((domain) => [domain, `ada.${domain}`]);
    expect(names.filter((domain) => !lists.isAlias?.(domain))).toEqual([]);
    expect(names.filter((domain) => lists.isDisposable(domain) || lists.isWebmail(domain))).toEqual([]);
  });

  test("include the services of aliases, and not the domains of their companies", () => {
    const aliases = [
      "duck.com",
      "mozmail.com",
      "passmail.net",
      "ada.anonaddy.com",
      "privaterelay.appleid.com",
    ];
    expect(aliases.filter((domain) => !lists.isAlias?.(domain))).toEqual([]);
    const others = ["duckduckgo.com", "appleid.com", "firefox.com", "startmail.com", "gmail.com"];
    expect([...others, "mailinator.com", "com"].filter((domain) => lists.isAlias?.(domain))).toEqual([]);
  });

  test("addDisposable makes an alias disposable", () => {
    const own = createMailLists({ addDisposable: ["duck.com"] });
    expect([own.isAlias?.("a.duck.com"), own.isDisposable("a.duck.com")]).toEqual([false, true]);
  });
});

test("domains that were reported as wrong entries are not disposable, unless addDisposable names them", () => {
  const reported = "atomicmail.io centraldecomunicacion.es feedspot.com stanbondsa.com.au tmxnet.com".split(
    " ",
  );
  const names = [...reported, ...NOT_DISPOSABLE].flatMap((domain) => [domain, `mail.${domain}`]);
  expect(names.filter(lists.isDisposable)).toEqual([]);
  // An entry that the list has no more is not needed here.
  expect(NOT_DISPOSABLE.filter((domain) => !disposableDomains().has(domain))).toEqual([]);
  expect(createMailLists({ addDisposable: ["21cn.com"] }).isDisposable("21cn.com")).toBe(true);
});

test("isSurelyDisposable is true for addDisposable alone", () => {
  expect(lists.isSurelyDisposable?.("10minutemail.com")).toBe(false);
  const own = createMailLists({ addDisposable: ["burner.example"], except: ["a.burner.example"] });
  const names = ["burner.example", "x.burner.example", "a.burner.example"];
  expect(names.map((name) => own.isSurelyDisposable?.(name))).toEqual([true, true, false]);
});

test("BUSINESS_MAIL_HOSTS are the hosts of providers for businesses, and no look-alikes", () => {
  const business =
    "aspmx.l.google.com alt1.aspmx.l.google.com aspmx2.googlemail.com acme-example.mail.protection.outlook.com " +
    "acme-example.p-v1.mx.microsoft eu-smtp-inbound-1.mimecast.com mxa-0012.gslb.pphosted.com mx.zoho.com mx.zoho.eu";
  expect(business.split(" ").filter((host) => !BUSINESS_MAIL_HOSTS.test(host))).toEqual([]);
  const others =
    "mx.10minutemail.com notgoogle.com google.com.evil.example outlook.com hotmail-com.olc.protection.outlook.com mx.microsoft.example";
  expect(others.split(" ").filter((host) => BUSINESS_MAIL_HOSTS.test(host))).toEqual([]);
});
