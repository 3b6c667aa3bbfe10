/** Words that belong to the following surname, in lower case. */
export const PARTICLES: ReadonlySet<string> = new Set(
  [
    // Dutch, German, Nordic.
    "van von vom und der den de het 't ter ten te tot zu zum zur af av",
    // Romance.
    "di da do dos das del dela delos della dello dei degli delle dal du des la le lo las los d' y e",
    // Arabic, Hebrew, Celtic.
    "al el bin ibn ben bint abu abd abi ould mac mc ap ab o' ó ní nic uí st st. san santa saint",
    "بن ابن بنت أبو ابو آل عبد בן בר בת בית אבו אבן",
  ].flatMap((line) => line.split(" ")),
);

/** Two particles that no first name resembles: they begin a surname, also in capitals. */
export const STARTS_OF_SURNAMES: ReadonlySet<string> = new Set(
  [
    "van der,van den,van de,van het,van 't,van ter,von der,von dem,von den,von und,von zu,von zur,von zum",
    "de la,de las,de los,de le,de lo,di la",
  ].flatMap((line) => line.split(",")),
);

/** Titles before a name, without their points. */
export const HONORIFICS: ReadonlySet<string> = new Set(
  [
    "mr mrs ms miss mx sir dame lord lady dr prof professor doctor rev reverend fr father hon capt col maj gen lt sgt",
    "herr frau hr fr doz pd hc habil priv-doz dipl-ing ing mag univ-prof dr-ing",
    "mme mlle mgr maitre me monsieur madame sr sra srta don dona dona dott dottssa dottore avv ing arch sig sigra",
    "dhr mevr mw drs ir pan pani shri smt eng",
    // German and Austrian, Polish, Czech and Turkish.
    "dipl kfm kffr maga mmag drin ddr ddrin profin bakk freiherr freifrau baron baronin mgr hab inz lek bc judr mudr rndr phdr",
    "sayin doc ogr uyesi ars gor uzm yrd",
  ].flatMap((line) => line.split(" ")),
);

/** The {@link HONORIFICS} that are also first names: without a point they are names. */
export const ABBREVIATED_TITLES: ReadonlySet<string> = new Set("gor lek hab ars maga".split(" "));

/** The {@link HONORIFICS} that are also names: in a name of two words they are names. */
export const HONORIFIC_NAMES: ReadonlySet<string> = new Set(
  "don dona gen hon ing mag pan pani eng arch sir lord lady dame fr hr col maj rev pd baron doc gor ars lek maga".split(
    " ",
  ),
);

/** Titles after a name, without their points. */
export const SUFFIXES: ReadonlySet<string> = new Set(
  [
    "jr sr junior senior ii iii iv phd md mba msc bsc ba ma bs ms dphil edd jd llm llb esq esquire cpa cfa cfp pmp pe rn dds dvm do",
    "obe mbe cbe kbe frcs frs facs fca aca acca cissp shrm-cp sphr mph mpa meng beng med mag dipl-ing ret csc drsc",
  ].flatMap((line) => line.split(" ")),
);

/** The {@link SUFFIXES} that are also last names: without points or a comma before them they are names. */
export const SUFFIX_NAMES: ReadonlySet<string> = new Set("ma ba do ms bs pe med mag ret".split(" "));

/**
 * Surnames so common in Spain, Portugal and Latin America that, before the last word, they are the first of
 * two surnames.
 */
export const FIRST_OF_TWO_SURNAMES: ReadonlySet<string> = new Set(
  [
    "garcia gonzalez rodriguez fernandez lopez martinez sanchez perez gomez martin jimenez ruiz hernandez diaz moreno munoz alvarez",
    "romero alonso gutierrez navarro torres dominguez vazquez ramos gil ramirez serrano blanco molina morales suarez ortega delgado",
    "castro ortiz rubio marin sanz nunez iglesias medina garrido cortes castillo santos lozano guerrero cano prieto mendez cruz",
    "herrera flores vargas rojas reyes aguilar mendoza chavez rivera juarez vega soto contreras silva costa pereira ferreira oliveira",
    "rodrigues martins sousa souza fernandes goncalves gomes lopes marques alves almeida ribeiro pinto carvalho teixeira barbosa",
  ].flatMap((line) => line.split(" ")),
);
