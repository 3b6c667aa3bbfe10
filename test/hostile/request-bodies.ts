export interface BodyRow {
  title: string;
  body: string | Buffer;
  type?: string;
  statuses: readonly number[];
}

const KIB = 1024;

/** Bodies of an edit, sent with the right PIN in its header. */
export const ODD_BODIES: readonly BodyRow[] = [
  { title: "an array 8000 deep", body: `${"[".repeat(8000)}${"]".repeat(8000)}`, statuses: [400] },
  { title: "an object 2700 deep", body: `${'{"a":'.repeat(2700)}1${"}".repeat(2700)}`, statuses: [400] },
  {
    title: "an array 8000 deep for a name",
    body: `{"name":${"[".repeat(8000)}${"]".repeat(8000)}}`,
    statuses: [400],
  },
  { title: "17 KiB", body: JSON.stringify({ name: "x".repeat(17 * KIB) }), statuses: [413] },
  { title: "a megabyte", body: JSON.stringify({ name: "x".repeat(KIB * KIB) }), statuses: [413] },
  { title: "__proto__ with a name", body: '{"__proto__":{"name":"polluted","polluted":1}}', statuses: [400] },
  {
    title: "constructor with a prototype",
    body: '{"constructor":{"prototype":{"polluted":1}}}',
    statuses: [400],
  },
  { title: "an array", body: '["name"]', statuses: [400] },
  { title: "a string", body: '"name"', statuses: [400] },
  { title: "a number", body: "1e400", statuses: [400] },
  { title: "null", body: "null", statuses: [400] },
  { title: "true", body: "true", statuses: [400] },
  { title: "nothing but blanks", body: "   ", statuses: [400] },
  { title: "garbage after the object", body: '{"name":"x"}}', statuses: [400] },
  { title: "a comma too many", body: '{"name":"x",}', statuses: [400] },
  { title: "single quotes", body: "{'name':'x'}", statuses: [400] },
  { title: "a line end in a string", body: '{"name":"a\nb"}', statuses: [400] },
  { title: "invalid UTF-8", body: Buffer.from('{"name":"a\xffb"}', "latin1"), statuses: [400] },
  { title: "UTF-16", body: Buffer.from('{"name":"x"}', "utf16le"), statuses: [400] },
  { title: "a name that is a number", body: '{"name":1}', statuses: [400] },
  { title: "a name that is a list", body: '{"name":["x"]}', statuses: [400] },
  { title: "a name that is an object", body: '{"name":{"toString":"x"}}', statuses: [400] },
  { title: "a name of half a character", body: '{"name":"\\ud800"}', statuses: [400] },
  { title: "an empty name", body: '{"name":""}', statuses: [400] },
  { title: "an expiresAt of 1e308", body: '{"expiresAt":1e308}', statuses: [400] },
  { title: "an expiresAt of 1e400", body: '{"expiresAt":1e400}', statuses: [400] },
  { title: "an expiresAt of -1", body: '{"expiresAt":-1}', statuses: [400] },
  { title: "an expiresAt of a half", body: '{"expiresAt":0.5}', statuses: [400] },
  { title: "an expiresAt of true", body: '{"expiresAt":true}', statuses: [400] },
  { title: "an expiresAt of a list", body: '{"expiresAt":["2030-01-01T00:00:00Z"]}', statuses: [400] },
  { title: "an expiresAt of an object", body: '{"expiresAt":{"getTime":1}}', statuses: [400] },
  { title: "an expiresAt of digits in a string", body: '{"expiresAt":"1999999999999"}', statuses: [400] },
  { title: "a PIN that is an object", body: '{"pin":{},"expiresAt":1}', statuses: [400] },
  { title: "text", body: "name=x", type: "text/plain", statuses: [415] },
  { title: "XML", body: "<name>x</name>", type: "application/xml", statuses: [415] },
  { title: "multipart", body: "--X--", type: "multipart/form-data; boundary=X", statuses: [415] },
  { title: "JSON in UTF-7", body: '{"name":"x"}', type: "application/json; charset=utf-7", statuses: [415] },
  { title: "a malformed Content-Type", body: '{"name":"x"}', type: "json", statuses: [415] },
  {
    title: "a form of broken escapes",
    body: "name=%zz",
    type: "application/x-www-form-urlencoded",
    statuses: [400],
  },
  {
    title: "a form that is not UTF-8",
    body: "name=%ff",
    type: "application/x-www-form-urlencoded",
    statuses: [400],
  },
  {
    title: "a form of raw bytes",
    body: Buffer.from("name=\xff", "latin1"),
    type: "application/x-www-form-urlencoded",
    statuses: [400],
  },
  {
    title: "a form of lists and nested objects",
    body: "name[]=x&name[a]=y&__proto__[polluted]=1",
    type: "application/x-www-form-urlencoded",
    statuses: [400],
  },
  {
    title: "a form of 8000 pairs",
    body: "a&".repeat(8000),
    type: "application/x-www-form-urlencoded",
    statuses: [400],
  },
  {
    title: "a byte order mark before the object",
    body: '\ufeff{"name":"after a mark"}',
    statuses: [200, 400],
  },
  { title: "a name twice", body: '{"name":"first","name":"second"}', statuses: [200] },
  {
    title: "a name and 1000 unknown keys",
    body: JSON.stringify({
      name: "x",
      ...Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, n])),
    }),
    statuses: [200],
  },
];
