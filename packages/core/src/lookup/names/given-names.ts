// Usual spellings of common names. Each line is one name.

/** East Slavic given names whose forms the letters alone do not connect. */
const SLAVIC = `
александр олександр аляксандр alexander aleksandr alexandr aleksander alexandre oleksandr aliaksandr
александра олександра alexandra aleksandra oleksandra
алексей олексій аляксей alexey alexei aleksey aleksei oleksii oleksiy aliaksei
андрей андрій андрэй andrey andrei andrii andriy andrew
дмитрий дмитро dmitry dmitri dmitriy dmitrii dimitri dmytro
евгений євген євгеній evgeny evgeniy evgenii yevgeny yevgeniy yevhen yevhenii eugene evgeni
евгения євгенія evgenia evgeniya yevgenia yevgeniya yevheniia eugenia
екатерина катерина ekaterina yekaterina kateryna katerina catherine
елена олена elena yelena olena helen
ирина ірина iryna irina irene
михаил михайло міхаіл mikhail mihail mykhailo michael
наталья наталия наталія natalia natalya nataliya nataliia natalie
николай nikolay nikolai nicholas
павел павло pavel pavlo paul
пётр петр петро petr pyotr piotr petro peter
сергей сергій сяргей sergey sergei sergiy serhii serhiy siarhei serge
татьяна тетяна tatiana tatyana tetiana tetyana
владимир володимир vladimir volodymyr wladimir
юлия юлія yulia yuliya iuliia yuliia julia juliya
юрий юрій yuri yury yuriy yurii iurii
ксения ксенія kseniya ksenia xenia kseniia
яков яків yakov yakiv jakov
иосиф iosif joseph
константин konstantin constantine constantin
анастасия анастасія anastasia anastasiya anastasiia
виктория вікторія victoria viktoria viktoriya viktoriia
виктор віктор viktor victor
григорий григорій grigory grigoriy grigorii hryhorii hryhoriy gregory
`;

const GREEK = `
αλεξανδροσ alexandros alexander aleksandros
γιωργοσ γεωργιοσ giorgos georgios george yiorgos yorgos
γιαννησ ιωαννησ giannis yannis yiannis ioannis john
δημητρησ dimitris demetris
δημητριοσ dimitrios demetrios
ελενη eleni helen
κωστασ kostas costas
κωνσταντινοσ konstantinos constantinos
μιχαλησ michalis mihalis
μιχαηλ michail michael
νικοσ nikos nicos
νικολαοσ nikolaos nicolaos
παυλοσ pavlos paul
χρηστοσ christos hristos
`;

/** In Latin letters only such spellings as one person uses: not Joseph for Yusuf. */
const ARABIC = `
محمد mohammed mohamed mohammad mohamad muhammad muhammed muhamad
محمود mahmoud mahmood mahmud
احمد ahmed ahmad ahmet achmed
حامد hamed
حميد hameed hamid
حسن hassan hasan
حسين hussein hussain husain husein hossein hossain houssein hosein
علي ali aly
عمر omar umar omer
عمرو amr amro amrou
عثمان othman uthman othmane
خالد khaled khalid
يوسف yousef youssef yusuf yousuf yousif yussef
ابراهيم ibrahim ebrahim brahim
اسماعيل ismail ismael esmail
مصطفي mustafa mostafa moustafa mustapha mostapha
عبدالله abdullah abdallah abdalla abdulla
عبدالرحمن abdulrahman abdelrahman abdalrahman
سعيد saeed said sayeed
سعد saad
سالم salem
سليم saleem salim selim
سلمان salman
سليمان suleiman sulaiman solaiman soleiman sulayman
صالح saleh salih
طارق tariq tarek tareq tarik
كريم karim kareem
ناصر nasser naser
رشيد rashid rasheed
جمال jamal gamal
جميل jamil jameel gamil
فاطمه فاطمة fatima fatma fatimah fatemeh
عايشه عايشة aisha ayesha
مريم maryam mariam meryem
زينب zainab zeinab zaynab zineb
نور noor nour nur
هدي huda hoda houda
اميرة اميره amira ameera
`;

const HEBREW = `
אברהם avraham
יצחק yitzhak itzhak yitzchak
יעקב yaakov yaacov
יוסף yosef joseph yossef
משה moshe
דוד דויד david
שלמה shlomo
שמעון shimon simon
יהודה yehuda judah
אהרן אהרון aharon aaron
חיים haim chaim
אליהו eliyahu
יונתן yonatan jonathan
נתן natan nathan
דניאל daniel
מיכאל michael mikhael
גבריאל gavriel
רפאל rafael raphael refael
שרה sarah sara
רחל rachel rahel
רבקה rivka
לאה lea leah
מרים miriam
חנה hana hannah chana
אסתר esther ester
תמר tamar
נועה noa noah
יעל yael
מיכל michal
ענת anat
`;

/** Korean surnames with several spellings. */
const KOREAN_SURNAMES = `
김 kim gim
이 리 lee yi rhee ri yee
박 park pak bak
최 choi choe
정 jung jeong chung cheong
강 kang gang
조 cho jo
윤 yoon yun
장 jang chang
임 림 lim im yim rim
오 oh o
서 seo suh
신 shin sin
권 kwon gwon
안 ahn an
유 류 yoo yu ryu you ryoo
전 천 jeon chun cheon jun
고 ko go koh
문 moon mun
손 son sohn
배 bae pae
백 baek paik back paek
허 heo hur huh
심 shim sim
노 로 noh roh no ro
곽 kwak gwak
성 sung seong
주 joo ju chu
우 woo wu u
구 koo gu ku goo
나 라 na ra
진 jin chin
엄 um eom uhm
현 hyun hyeon
석 seok suk sok
공 kong gong
길 gil kil
`;

const KOREAN_SYLLABLES =
  "min jun joon seo yeon yun ji hye hyun hyeon woo oo young yeong soo su jin kyung gyeong ho sung seong sang tae dong jae eun " +
  "hee hui hei won chul cheol mi na ra yoon hyo in kyu gyu ki gi do ha ye bin seung geun keun suk seok hwan il nam bo ah jong " +
  "yong kwang gwang byung byeong myung myeong han chan hoon hun hyuk hyeok bum beom ram rim lim sun seon sook ok ja kang jung jeong";
/** Korean given names of two syllables in Latin letters. */
export const KOREAN_GIVEN = new RegExp(`^(?:${KOREAN_SYLLABLES.replaceAll(" ", "|")}){2}$`);

/** Numbers of the lines with a form of a name. */
export type NameGroups = ReadonlyMap<string, ReadonlySet<number>>;

export const GIVEN_NAMES = {
  slavic: groupsOf(SLAVIC),
  greek: groupsOf(GREEK),
  arabic: groupsOf(ARABIC),
  hebrew: groupsOf(HEBREW),
};
export const SURNAMES_OF_KOREA = groupsOf(KOREAN_SURNAMES);

/** Whether both forms are of one name. */
export function areOfOneGroup(groups: NameGroups, one: string, other: string): boolean {
  const lines = groups.get(other);
  return lines !== undefined && [...(groups.get(one) ?? [])].some((line) => lines.has(line));
}

function groupsOf(text: string): NameGroups {
  const groups = new Map<string, Set<number>>();
  for (const [line, forms] of text.trim().split("\n").entries()) {
    for (const form of forms.split(" ")) groups.set(form, (groups.get(form) ?? new Set()).add(line));
  }
  return groups;
}
