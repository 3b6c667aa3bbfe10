// How letters of other alphabets are written in Latin letters, one table per alphabet. A line has letters and
// their spellings, each with its share in percent; spellings with share 0 are recognised but never guessed.
// `^` and `$` are the ends of a name, `_` is an empty spelling. The shares are estimates.

/** Russian, and the other languages in Cyrillic except for the letters of {@link UKRAINIAN} and others below. */
export const RUSSIAN = `
а a:100
б b:100
в v:97 w:3
в$ v:94 ff:3 w:2 f:1
г g:98 h:2
д d:100
дж j:55 dzh:45
е e:100 ye:0 je:0 ie:0
^е e:66 ye:30 je:4 ie:0
ае ae:65 aye:35 aje:0 aie:0
ее ee:75 eye:23 eje:2 eie:0
ое oe:65 oye:33 oje:2 oie:0
ье ye:50 ie:28 e:20 je:2
ё e:62 yo:26 io:8 jo:4 ye:0 ie:0
чё che:65 cho:25 chyo:10 chio:0 tcho:0 tscho:0
шё she:65 sho:25 shyo:10 shio:0 scho:0
щё shche:60 shcho:15 sche:15 shchyo:10 schyo:0
ьё yo:50 ye:20 e:15 io:15 ie:0 jo:0
ж zh:100 j:0 sch:0 jh:0
з z:100
и i:99 y:1 ee:0
ия$ ia:52 iya:34 iia:9 ija:4 ija:0 iya:0 ya:1
ий$ y:52 iy:20 ii:12 i:12 ij:4 yi:0 yy:0 iyi:0
ый$ y:76 iy:10 yy:8 yi:3 ij:3 i:0 ii:0
й y:55 i:40 j:5
ей ey:62 ei:34 ej:4 ay:0
ай ay:50 ai:45 aj:5 aii:0
ой oy:55 oi:40 oj:5
к k:100 c:0 ck:0
кс ks:76 x:24
л l:100 ll:0
м m:100
н n:100
о o:100
п p:100 pp:0
р r:100
с s:100 ss:0
т t:100
у u:97 ou:3 oo:0
ф f:92 ph:8 ff:0
х kh:79 h:21 x:0 ch:0
ц ts:89 c:6 tz:5 z:0
ч ch:100 tch:0 tsch:0 tsh:0 c:0
ш sh:97 sch:3 ch:0
щ shch:72 sch:24 sh:4 schtsch:0 chtch:0 sht:0 stch:0 shh:0 sc:0
ъ _:100
ы y:95 i:5 yi:0
ь _:100
э e:100 ae:0 eh:0
ю yu:67 iu:20 ju:10 u:3 you:0 iou:0 jou:0
лю lyu:52 liu:24 lu:18 lju:6 liou:0 lyou:0
ью yu:65 iu:27 ju:8 iou:0
я ya:66 ia:25 ja:9 a:0
ья ya:54 ia:38 ja:8 iya:0 yia:0
ьи yi:60 i:40 ii:0 ji:0
^александр$ aleksandr:48 alexander:36 alexandr:14 aleksander:2
^алексей$ alexey:42 aleksey:25 alexei:20 aleksei:13 aleksej:0 alexej:0
^дмитрий$ dmitry:50 dmitriy:20 dmitrii:12 dmitri:17 dimitri:1 dmitrij:0
^евгений$ evgeny:42 evgeniy:22 evgenii:14 yevgeny:14 evgeni:5 yevgeniy:3 jewgeni:0 evgenij:0 yevgenii:0 yevgeni:0
^екатерина$ ekaterina:86 yekaterina:6 katerina:8
^михаил$ mikhail:90 mihail:8 michail:2
^пётр$ petr:55 pyotr:32 piotr:13
^петр$ petr:58 pyotr:29 piotr:13
^юлия$ yulia:44 yuliya:20 julia:22 iuliia:9 juliya:3 yuliia:2 julija:0 iulia:0 ioulia:0 iuliya:0 juliia:0
^юрий$ yuri:30 yury:32 yuriy:20 iurii:12 juri:4 yurii:2 jurij:0 jury:0 iouri:0 youri:0
`;

export const UKRAINIAN = `
г h:68 g:32
зг zgh:60 zh:30 zg:10
^є ye:70 e:18 ie:12 je:0
є ie:52 ye:34 e:12 je:2
и y:76 i:24
ий$ y:45 yi:25 yy:15 iy:10 i:5 yj:0
і i:100 y:0
ій$ ii:40 iy:30 i:15 y:10 ij:5 iyi:0
ій ii:40 iy:40 i:15 ij:5
ія$ iia:34 ia:36 iya:26 ija:4
^ї yi:80 i:15 ji:5
ї i:60 yi:32 ji:8
ґ g:100
й i:52 y:42 j:6
х kh:76 h:24 ch:0
ьо io:60 yo:35 o:5 jo:0
`;

export const BELARUSIAN = "\nў u:78 w:22 v:0\nі i:98 y:2\nг h:60 g:40\n";

/** Bulgarian, seen by a hard sign that is a vowel. */
export const BULGARIAN =
  "\nъ a:84 u:12 y:4\nщ sht:96 st:4\nх h:85 kh:15\nй y:75 i:22 j:3\nия$ ia:62 iya:36 ija:2\n";

/** Serbian and Macedonian. */
export const SERBIAN = `
ђ dj:75 d:25
ј j:92 y:5 i:3
љ lj:95 l:5
њ nj:95 n:5
ћ c:90 ch:10
џ dz:80 dzh:20
ѓ gj:80 g:20
ќ kj:80 k:20
ѕ dz:90 z:10
ж z:80 zh:20
ч c:80 ch:20
ш s:82 sh:18
х h:98 kh:2
ц c:92 ts:8
`;

/** After {@link foldLetters}: without accents, with a diaeresis. */
export const GREEK = `
α a:100
αι ai:70 e:29 ae:1
αυ av:70 au:30 af:0
αυθ afth:60 auth:0 avth:0
αυσ afs:65 aus:0
αυχ afch:65 auch:0 afh:15
αυκ afk:100 auk:0 avk:0
αυτ aft:60 aut:0 avt:0
β v:100 b:0
γ g:98 gh:2 y:0
γε ge:84 ye:16
γι gi:84 yi:10 y:6
γγ ng:75 gg:25
γκ gk:55 g:25 ng:20
^γκ gk:62 g:38
γξ nx:100
γχ nch:75 nh:15 gch:10
δ d:99 dh:1
ε e:100
ει ei:62 i:38 ey:0
ευ ev:68 eu:32 ef:0
ευθ efth:65 euth:0
ευκ efk:100 euk:0 evk:0
ευσ efs:60 eus:0
ευχ efch:60 euch:0 efh:20
ευτ eft:60 eut:0
ζ z:100
η i:96 e:4 h:0
θ th:100 t:0
ι i:100 y:0
ϊ i:100
κ k:90 c:10
λ l:100 ll:0
μ m:100
μπ mp:55 b:45
^μπ b:86 mp:14
ν n:100
ντ nt:76 nd:24 d:0
^ντ d:55 nt:45
ξ x:95 ks:5
ο o:100
οι oi:62 i:38
ου ou:94 u:6
π p:100
ρ r:100 rr:0
σ s:100 ss:0
τ t:100
τζ tz:92 j:8 dj:0
υ y:72 i:24 u:4
ϋ y:72 i:28
φ f:78 ph:22
χ ch:64 h:33 kh:3 x:0
ψ ps:100
ω o:99 w:1
^γιωργοσ$ giorgos:66 george:24 yiorgos:6 georgios:4
^γεωργιοσ$ georgios:70 george:24 giorgos:6
^ιωαννησ$ ioannis:80 john:6 yiannis:7 giannis:7
^γιαννησ$ giannis:62 yiannis:20 yannis:16 ioannis:2
`;

/** Its other letters have one spelling. */
export const GEORGIAN = "\nყ q:60 k:40";

/** Arabic and Persian: consonants and long vowels; a short vowel may stand between any two. */
export const ARABIC = `
ا a:1 aa:0 e:0 i:0 o:0 u:0
ء _:1 a:0 e:0 i:0
ب b:1
پ p:1 b:0
ت t:1
ة a:1 ah:0 eh:0 at:0 e:0 et:0
ث th:1 s:0 t:0
ج j:1 g:0 dj:0
چ ch:1
ح h:1
خ kh:1
د d:1
ذ dh:1 th:0 d:0 z:0
ر r:1
ز z:1
ژ zh:1 j:0
س s:1 c:0
ش sh:1 ch:0
ص s:1
ض d:1 dh:0 z:0
ط t:1
ظ z:1 dh:0
ع _:1 a:0 e:0 i:0 o:0 u:0 aa:0
غ gh:1 g:0
ف f:1 ph:0
ق q:1 k:0 g:0 c:0
ك k:1 c:0
گ g:1
ل l:1
م m:1
ن n:1
ه h:1 _:0
و w:1 u:0 o:0 ou:0 oo:0 v:0
ي y:1 i:0 ee:0 ie:0 ei:0 ai:0 iy:0
ي$ i:1 y:0 a:0 ee:0 e:0 ie:0 iy:0
^ال al:1 el:0 ul:0
`;

/** Hebrew: as {@link ARABIC}. */
export const HEBREW = `
א _:1 a:0 e:0 i:0 o:0 u:0
ב b:1 v:0
ג g:1
ד d:1
ה h:1 a:0 ah:0 e:0 eh:0 _:0
ו v:1 o:0 u:0 w:0 oo:0 ou:0
ז z:1
ח h:1 ch:0 kh:0
ט t:1
י y:1 i:0 j:0 e:0 ee:0 ei:0 ai:0 ay:0 ey:0
כ k:1 c:0 ch:0 kh:0
ל l:1
מ m:1
נ n:1
ס s:1
ע _:1 a:0 e:0 i:0 o:0 u:0
פ p:1 f:0 ph:0
צ ts:1 tz:0 z:0
ק k:1 c:0 q:0
ר r:1
ש sh:1 s:0 sch:0
ת t:1 th:0
`;

/** Korean, in the letters of a syllable (NFD). */
export const KOREAN = `
ᄀ g:1 k:0
ᄁ kk:1 g:0 k:0
ᄂ n:1
ᄃ d:1 t:0
ᄄ tt:1 d:0
ᄅ r:1 l:0
ᄆ m:1
ᄇ b:1 p:0
ᄈ pp:1 b:0 p:0
ᄉ s:1 sh:0
ᄊ ss:1 s:0
ᄋ _:1
ᄌ j:1 ch:0
ᄍ jj:1 j:0
ᄎ ch:1
ᄏ k:1
ᄐ t:1
ᄑ p:1
ᄒ h:1
ᅡ a:1 ah:0
ᅢ ae:1 e:0
ᅣ ya:1
ᅤ yae:1
ᅥ eo:1 u:0 o:0 uh:0
ᅦ e:1
ᅧ yeo:1 you:0 yu:0 yo:0
ᅨ ye:1 e:0
ᅩ o:1 oh:0
ᅪ wa:1
ᅫ wae:1
ᅬ oe:1 oi:0
ᅭ yo:1
ᅮ u:1 oo:0 woo:0
ᅯ wo:1 weo:0
ᅰ we:1
ᅱ wi:1
ᅲ yu:1 yoo:0
ᅳ eu:1 u:0
ᅴ ui:1 ee:0 i:0 eui:0
ᅵ i:1 ee:0 yi:0
ᆨ k:1 g:0 c:0
ᆫ n:1
ᆮ t:1
ᆯ l:1 r:0
ᆷ m:1
ᆸ p:1 b:0
ᆺ t:1 s:0
ᆼ ng:1
ᆽ t:1
ᇂ h:1 _:0
`;
