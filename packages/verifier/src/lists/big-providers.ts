/**
 * Providers that are suggested for typos, the most common first: often mistyped, and without similar real
 * domains.
 */
export const SUGGESTED_PROVIDERS: readonly string[] =
  `gmail.com yahoo.com hotmail.com outlook.com icloud.com googlemail.com protonmail.com
  hotmail.co.uk hotmail.fr hotmail.de hotmail.it hotmail.es hotmail.be hotmail.nl
  yahoo.co.uk yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.ca yahoo.in yahoo.co.in yahoo.co.jp yahoo.co.id
  yahoo.com.br yahoo.com.mx yahoo.com.ar yahoo.com.au
  outlook.fr outlook.de outlook.it outlook.es outlook.jp outlook.com.br
  comcast.net verizon.net sbcglobal.net bellsouth.net btinternet.com virginmedia.com ntlworld.com
  t-online.de freenet.de wanadoo.fr laposte.net rediffmail.com fastmail.com tutanota.com hushmail.com bigpond.com`.split(
    /\s+/,
  );

/**
 * Large providers. They are never disposable, and their subdomains belong to them. No entry is suggested as the
 * correction of another one.
 */
export const BIG_PROVIDERS: readonly string[] = [
  ...SUGGESTED_PROVIDERS,
  ...`ymail.com rocketmail.com aol.com aim.com live.com live.co.uk live.fr live.nl live.it live.de msn.com me.com mac.com
  hotmail.se hotmail.ch outlook.at outlook.be outlook.in outlook.ie outlook.pt outlook.cz outlook.dk outlook.kr
  yahoo.at yahoo.be yahoo.cn yahoo.dk yahoo.gr yahoo.ie yahoo.nl yahoo.no yahoo.pl yahoo.pt yahoo.ro yahoo.se
  yahoo.com.cn yahoo.com.hk yahoo.com.ph yahoo.com.sg yahoo.com.tr yahoo.com.tw yahoo.com.vn yahoo.co.kr yahoo.co.nz yahoo.co.th
  yahoo.co.za yahoo.jp
  proton.me pm.me gmx.com gmx.de gmx.net gmx.at gmx.ch web.de mail.com email.com mail.ru inbox.ru list.ru bk.ru yandex.ru
  yandex.com ya.ru rambler.ru qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com aliyun.com naver.com
  daum.net hanmail.net zoho.com fastmail.fm hey.com tuta.io tuta.com mailbox.org posteo.de orange.fr free.fr sfr.fr neuf.fr
  libero.it virgilio.it tiscali.it alice.it tin.it wp.pl onet.pl interia.pl o2.pl seznam.cz centrum.cz sky.com
  blueyonder.co.uk talktalk.net att.net cox.net charter.net earthlink.net juno.com rogers.com shaw.ca sympatico.ca telus.net
  optusnet.com.au uol.com.br bol.com.br terra.com.br globo.com ziggo.nl planet.nl telenet.be skynet.be bluewin.ch ukr.net
  abv.bg walla.co.il`.split(/\s+/),
];

/** Providers that the list of disposable domains contains, and where people keep mailboxes for years. */
export const NOT_DISPOSABLE: readonly string[] = ["21cn.com", "sify.com"];

/**
 * Mail hosts of providers and filters for businesses, by the end of their names. Mailboxes there are paid for one by one, so a
 * domain that uses them is hardly a service of disposable addresses.
 */
export const BUSINESS_MAIL_HOSTS =
  /(?:^|\.)(?:(?:google|googlemail|mail\.protection\.outlook|mimecast|pphosted|ppe-hosted|iphmx|messagelabs|barracudanetworks|emailsrvr|hornetsecurity|zoho)\.com|mx\.microsoft|zoho\.eu)$/;

/** Domains that the webmail list contains wrongly: domains of organisations, and domains for examples. */
export const NOT_WEBMAIL: readonly string[] =
  `about.com alibaba.com ancestry.com dailypioneer.com depechemode.com discovery.com dnsmadeeasy.com example.com facebook.com
  geek.com ivillage.com kansascity.com mail-tester.com medscape.com mydomain.com name.com nus.edu.sg oath.com onmilwaukee.com
  parrot.com scubadiving.com techspot.com test.com test.de unican.es www.com yourdomain.com`.split(/\s+/);
