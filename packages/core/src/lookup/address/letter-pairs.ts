/**
 * How surprising a letter is after another in names of many languages: a row for each letter from a to z, in it a digit
 * of base 36 for each next letter, in quarters of a bit. Made by scripts/gibberish/train-letter-pairs.mjs.
 */
export const LETTER_PAIRS: readonly string[] = [
  "rkkhqqmkmqifi8rqzbhinltwlo",
  "8qvl9zzmcvykzsczzeszfzzznz",
  "bzqvdzy6eyhmyzdzrmtqlyzzqn",
  "9uzo9zxtbrzmrrbzxgnxgxrzni",
  "mpokpsnolrkbkairzaghphuxnn",
  "9zzzamtz9tzhtpczzdzpizzzzz",
  "bpxqbxlidquizjdzufoqcumznz",
  "7zvzazzzazsmnmdzzjzofkqzoz",
  "erfjgumvwoieiakqwgdhqnxxjn",
  "6uooczzubzmupubzzzrzczuzzz",
  "8wzzezzhbznmzr9zzhjohzqznz",
  "8rrnbwzv9rsfordrzzkrftxzlz",
  "7lqvczzz9ztxnsdozspsgzzzpx",
  "aqledydldnkusjfzzsihoyyylr",
  "pmrlpqkoqqmdhbtnzcejjcmylq",
  "7zvvbqzgdzzlzvcizevsizzznz",
  "dsssksss9sssssksssss5dssss",
  "appjdyksawnonmczzmliipzzmo",
  "cxizczzddzfkpsenzuicivuzpq",
  "azszbxzecztuzvbzzghgjzxzmp",
  "jhighploizidjcmoxeejtrlvmn",
  "5zvyczzy8vrmzvhzzmhzqzzzty",
  "6sszbzzzazpzspezznfshzzzsz",
  "ctttettt7tttktktttkh8ttttt",
  "7nqmaztzfzngqhfxzlnreqzzxx",
  "9oolazvf9zprvvezzzrrippzlm",
];
