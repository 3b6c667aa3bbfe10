import type { Language } from "./language.ts";

export const EASTERN: readonly Language[] = [
  {
    code: "hu",
    places: [["hu", "HU", "hu"]],
    words:
      "Név|Keresztnév|Vezetéknév|Beosztás|E-mail|Telefon|Fax|Szoba|Kezdőlap|Munkatársak|Kapcsolat|Impresszum|Hírek",
    titles:
      "Ügyvezető igazgató|Értékesítési vezető|Egyetemi docens|Ügyvéd|Projektvezető|Gazdasági igazgató|Marketing menedzser|Könyvelő|Szoftverfejlesztő|Titkárnő|Sajtófelelős|Személyzeti vezető",
    honorifics: "Dr.|Prof. Dr.|dr.",
    filler:
      "Több mint harminc éve dolgozunk a régió vállalkozásaival.|Irodánk hétfőtől péntekig tart nyitva.|Ismerje meg munkánkat.",
    departments: "Értékesítés|Ügyfélszolgálat|Pénzügy|Tanulmányi Osztály",
    isFamilyFirst: true,
  },
  {
    code: "ro",
    places: [["ro", "RO", "ro"]],
    words:
      "Nume și prenume|Prenume|Nume|Funcția|E-mail|Telefon|Fax|Birou|Acasă|Echipa|Contact|Mențiuni legale|Noutăți",
    titles:
      "Director general|Șef vânzări|Conferențiar universitar|Avocat|Manager de proiect|Director financiar|Specialist marketing|Contabil șef|Programator|Secretară|Purtător de cuvânt|Inspector resurse umane",
    honorifics: "Dr.|Prof. dr.|Ing.|Conf. dr.",
    filler:
      "De peste treizeci de ani lucrăm cu firmele din regiune.|Biroul nostru este deschis de luni până vineri.|Aflați mai multe despre munca noastră.",
    departments: "Vânzări|Contabilitate|Relații cu clienții|Secretariat",
  },
  {
    code: "tr",
    places: [["com.tr", "TR", "tr"]],
    words:
      "Adı Soyadı|Adı|Soyadı|Unvan|E-posta|Telefon|Faks|Oda|Ana sayfa|Ekibimiz|İletişim|Yasal uyarı|Haberler",
    titles:
      "Genel Müdür|Satış Müdürü|Doçent|Avukat|Proje Yöneticisi|Mali İşler Direktörü|Pazarlama Uzmanı|Muhasebe Müdürü|Yazılım Geliştirici|Yönetici Asistanı|Basın Sözcüsü|İnsan Kaynakları Uzmanı",
    honorifics: "Dr.|Prof. Dr.|Doç. Dr.|Av.",
    filler:
      "Otuz yılı aşkın süredir bölgedeki işletmelerle çalışıyoruz.|Ofisimiz pazartesiden cumaya kadar açıktır.|Çalışma biçimimiz hakkında daha fazla bilgi edinin.",
    departments: "Satış|Müşteri Hizmetleri|Muhasebe|Öğrenci İşleri",
  },
  {
    code: "el",
    places: [["gr", "GR", "el"]],
    words:
      "Ονοματεπώνυμο|Όνομα|Επώνυμο|Θέση|E-mail|Τηλέφωνο|Φαξ|Γραφείο|Αρχική|Η ομάδα μας|Επικοινωνία|Όροι χρήσης|Νέα",
    titles:
      "Διευθύνων Σύμβουλος|Διευθυντής Πωλήσεων|Επίκουρη Καθηγήτρια|Δικηγόρος|Υπεύθυνος Έργου|Οικονομικός Διευθυντής|Υπεύθυνη Μάρκετινγκ|Λογιστής|Προγραμματιστής|Γραμματέας",
    honorifics: "Δρ.|Καθ.",
    filler:
      "Πάνω από τριάντα χρόνια δίπλα στις επιχειρήσεις της περιοχής.|Το γραφείο μας λειτουργεί Δευτέρα έως Παρασκευή.|Μάθετε περισσότερα για εμάς.",
    departments: "Τμήμα Πωλήσεων|Εξυπηρέτηση Πελατών|Λογιστήριο|Γραμματεία",
  },
  {
    code: "ru",
    places: [["ru", "RU", "ru"]],
    words:
      "ФИО|Имя|Фамилия|Должность|Эл. почта|Телефон|Факс|Кабинет|Главная|Сотрудники|Контакты|Правовая информация|Новости",
    titles:
      "Генеральный директор|Начальник отдела продаж|Доцент|Юрист|Руководитель проекта|Финансовый директор|Менеджер по маркетингу|Главный бухгалтер|Программист|Секретарь|Пресс-секретарь|Специалист по кадрам",
    honorifics: "проф.|к.т.н.",
    filler:
      "Более тридцати лет мы работаем с предприятиями региона.|Наш офис открыт с понедельника по пятницу.|Узнайте больше о нашей работе.",
    departments: "Отдел продаж|Бухгалтерия|Служба поддержки|Приёмная комиссия",
  },
  {
    code: "uk",
    places: [["ua", "UA", "uk"]],
    words:
      "ПІБ|Ім'я|Прізвище|Посада|Ел. пошта|Телефон|Факс|Кабінет|Головна|Працівники|Контакти|Правова інформація|Новини",
    titles:
      "Генеральний директор|Начальник відділу продажів|Доцент|Юрист|Керівник проєкту|Фінансовий директор|Менеджер з маркетингу|Головний бухгалтер|Програміст|Секретар",
    honorifics: "проф.|доц.",
    filler:
      "Понад тридцять років ми працюємо з підприємствами регіону.|Наш офіс відкритий з понеділка по п'ятницю.|Дізнайтеся більше про нашу роботу.",
    departments: "Відділ продажів|Бухгалтерія|Служба підтримки|Приймальна комісія",
  },
  {
    code: "ja",
    places: [["co.jp", "JP", "ja"]],
    words: "氏名|名|姓|役職|メール|電話|FAX|部屋|ホーム|スタッフ|お問い合わせ|サイトポリシー|お知らせ",
    titles:
      "代表取締役|営業部長|准教授|弁護士|プロジェクトマネージャー|経理部長|広報担当|人事部長|システムエンジニア|秘書",
    honorifics: "",
    filler: "三十年以上にわたり地域の企業とともに歩んできました。|営業時間は月曜日から金曜日までです。",
    departments: "営業部|お客様相談室|経理部|学務課",
    isFamilyFirst: true,
  },
];
