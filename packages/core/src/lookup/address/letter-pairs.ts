/**
 * How surprising a letter is after another one, in names of many languages. One row per letter from a to z;
 * in it, one base-36 digit per next letter, in quarters of a bit. Created by
 * scripts/gibberish/train-letter-pairs.mjs.
 */
export const LETTER_PAIRS: readonly string[] = [
  "rkkhqqmlmqifi8rqzbhinlswlo",
  "8qvl9zzmcvykztczzetzfzzzmz",
  "bzqvdzy6eyhmyzdzrmtqlyzzqj",
  "9uzp9zxtbrzmrrbzxgnxgxrzni",
  "mpokpsnolqkbkajqzaghphuxnn",
  "9zzzamtz9tzhtpczzdzpizzzzz",
  "bpxqbxlidquizjdzufoqcunznz",
  "7zvzazzzazsmnmdzzjzofkqzoz",
  "erfjgumvwoieiakqwgdhqnxxjn",
  "6vmoczzvbzmvpvbzzzrzczvzzz",
  "8xzzezzibznmzr9zzgjphzqznz",
  "8rqnbwzv9rsfosdrzzkrftxzmz",
  "7lqvczzz9ztxnsdozspsgzzzpx",
  "aqledydldnkusjfzzsihoyyylr",
  "pmrlppkoqqmdhbtnzcejkclylq",
  "7zvvbqzgdzzlzvcizdvsjzzznz",
  "dsssksss9sssssksssss5dssss",
  "aqpjdyksaxoonmczzmljipzzmk",
  "cxizdzzddzfkpsenzuicivuzpp",
  "azszbxzecztuzvbzzghgjzxzmp",
  "jhighploizidjcmoxeejtrlvmn",
  "5zvyczzy8vrmzvhzzmhzqzzzty",
  "6sszbzzzazpzspfzznesizzzpz",
  "ctttettt7tttktktttkh8ttttt",
  "7mqmazuzgzlgphguzllsfquzxu",
  "aollazvg9zqsvvezzzsqjqqzfn",
];
