import type { Language } from "../language.ts";

export const FURTHER_LANGUAGES: readonly Language[] = [
  {
    code: "sk",
    places: [["sk", "SK", "sk"]],
    words:
      "Meno a priezvisko|Meno|Priezvisko|Pozícia|E-mail|Telefón|Fax|Miestnosť|Úvod|Náš tím|Kontakt|Právne informácie|Aktuality",
    titles:
      "Konateľ spoločnosti|Vedúci obchodu|Odborná asistentka|Advokát|Projektový manažér|Finančná riaditeľka|Špecialista marketingu|Účtovníčka|Programátor|Hovorkyňa",
    honorifics: "Ing.|Mgr.|prof.|doc.|JUDr.",
    filler:
      "Už viac ako tridsať rokov spolupracujeme s firmami v regióne.|Naša kancelária je otvorená od pondelka do piatku.",
    departments: "Obchodné oddelenie|Účtovníctvo|Zákaznícky servis|Študijné oddelenie",
  },
  {
    code: "hr",
    places: [["hr", "HR", "hr"]],
    words:
      "Ime i prezime|Ime|Prezime|Radno mjesto|E-pošta|Telefon|Faks|Soba|Početna|Naš tim|Kontakt|Pravne napomene|Novosti",
    titles:
      "Direktor društva|Voditelj prodaje|Docentica|Odvjetnik|Voditeljica projekta|Financijski direktor|Stručnjak za marketing|Računovođa|Programer|Glasnogovornica",
    honorifics: "dr. sc.|prof. dr. sc.|mr. sc.",
    filler:
      "Više od trideset godina radimo s tvrtkama iz regije.|Naš ured otvoren je od ponedjeljka do petka.",
    departments: "Prodaja|Računovodstvo|Korisnička služba|Studentska služba",
  },
  {
    code: "sl",
    places: [["si", "SI", "sl_SI"]],
    words:
      "Ime in priimek|Ime|Priimek|Delovno mesto|E-pošta|Telefon|Faks|Soba|Domov|Naša ekipa|Kontakt|Pravno obvestilo|Novice",
    titles:
      "Direktorica podjetja|Vodja prodaje|Docent|Odvetnica|Vodja projekta|Finančni direktor|Strokovnjak za marketing|Računovodja|Programer|Tajnica",
    honorifics: "dr.|prof. dr.|mag.",
    filler:
      "Že več kot trideset let sodelujemo s podjetji v regiji.|Naša pisarna je odprta od ponedeljka do petka.",
    departments: "Prodaja|Računovodstvo|Podpora strankam|Študentski referat",
  },
  {
    code: "lv",
    places: [["lv", "LV", "lv"]],
    words:
      "Vārds, uzvārds|Vārds|Uzvārds|Amats|E-pasts|Tālrunis|Fakss|Kabinets|Sākums|Mūsu komanda|Kontakti|Juridiskā informācija|Jaunumi",
    titles:
      "Valdes priekšsēdētājs|Pārdošanas vadītāja|Docents|Zvērināts advokāts|Projektu vadītāja|Finanšu direktors|Mārketinga speciālists|Galvenā grāmatvede|Programmētājs|Sekretāre",
    honorifics: "Dr.|prof.",
    filler:
      "Jau vairāk nekā trīsdesmit gadus sadarbojamies ar reģiona uzņēmumiem.|Mūsu birojs ir atvērts no pirmdienas līdz piektdienai.",
    departments: "Pārdošanas daļa|Grāmatvedība|Klientu serviss|Studiju daļa",
  },
  {
    code: "zh",
    places: [["com.cn", "CN", "zh_CN"]],
    words: "姓名|名|姓|职务|邮箱|电话|传真|办公室|首页|团队成员|联系我们|法律声明|新闻",
    titles: "总经理|销售总监|副教授|律师|项目经理|财务总监|市场部经理|会计师|软件工程师|秘书",
    honorifics: "",
    filler: "三十多年来，我们一直与本地区的企业合作。|办公时间为周一至周五。",
    departments: "销售部|财务部|客户服务|教务处",
    isFamilyFirst: true,
  },
  {
    code: "ko",
    places: [["co.kr", "KR", "ko"]],
    words: "이름|이름|성|직책|이메일|전화|팩스|사무실|홈|구성원|연락처|이용약관|소식",
    titles:
      "대표이사|영업부장|부교수|변호사|프로젝트 매니저|재무이사|마케팅 팀장|회계사|소프트웨어 엔지니어|비서",
    honorifics: "",
    filler: "저희는 삼십 년 넘게 지역 기업과 함께해 왔습니다.|사무실은 월요일부터 금요일까지 운영됩니다.",
    departments: "영업부|회계팀|고객지원팀|학사지원과",
    isFamilyFirst: true,
  },
];
