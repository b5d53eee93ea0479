import { test } from 'node:test'
import { inflateRawSync } from 'node:zlib'
import { identifyCaller } from '../src/dashboard/access/identify.ts'
import { readUpload } from '../src/dashboard/server/body.ts'
import { fieldsOf } from '../src/dashboard/server/form-or-json.ts'
import { unreadPath } from '../src/dashboard/server/unread-path.ts'
import { readSessionCookie } from '../src/dashboard/sign-in/cookie.ts'
import { redirectQuery } from '../src/dashboard/single-sign-on/saml-redirect.ts'
import { readMessageSignature } from '../src/gateway/authentication/message-signature.ts'
import { readDirectives } from '../src/gateway/cache/directives.ts'
import { readHttpDate } from '../src/gateway/cache/http-date.ts'
import { ApiTags } from '../src/gateway/record/tags.ts'
import type { Exchange } from '../src/gateway/server/exchange.ts'
import { jsonFlaw } from '../src/gateway/server/json-flaw.ts'
import { preferredType } from '../src/gateway/server/preferred-type.ts'
import {
  cookieValue,
  queryValues,
  singleParameter,
  withoutBearer,
  withoutCookie,
  withoutQuery,
} from '../src/gateway/steps/authentication/read-credential.ts'
import { bodyValues } from '../src/gateway/steps/operations/body-values.ts'
import { spelledParameter } from '../src/gateway/steps/operations/spelled-parameter.ts'
import { readTraceContext } from '../src/gateway/telemetry/trace-context.ts'
import { slugOf } from '../src/model/apis/definition/fill-ids.ts'
import type { BodyTypeCheck, ParameterCheck, ValueShape } from '../src/model/apis/definition/operation.ts'
import { parseBodyTemplate } from '../src/model/body-templates/parse.ts'
import { renderTemplate } from '../src/model/body-templates/render.ts'
import { parseXml } from '../src/model/body-templates/xml.ts'
import { readCertificate } from '../src/model/certificates/certificate.ts'
import { readJson } from '../src/model/json/json-body.ts'
import { addressList } from '../src/model/network/address.ts'
import { forwardedClient } from '../src/model/network/forwarded-for.ts'
import { searchParams } from '../src/model/network/media-type.ts'
import { isRedirectUri } from '../src/model/oauth-clients/redirect-uri.ts'
import { otherReadings, readablePath } from '../src/model/patterns/readable-path.ts'
import { toEmail } from '../src/model/people/user.ts'
import { readDeveloper } from '../src/model/portal/developers/developer-fields.ts'
import { redactBody, redactHead, redactUrl } from '../src/model/secrets/redact-traffic.ts'
import { foldCase } from '../src/model/text/fold.ts'
import { readBasic } from '../src/oauth/clients/client-auth.ts'
import { parseForm } from '../src/oauth/messages/form.ts'
import { readStrictObject } from '../src/oauth/messages/strict-json.ts'
import { readPublicJwk } from '../src/oauth/signing-keys/jwk.ts'
import { readCompact } from '../src/oauth/signing-keys/jwt.ts'
import { basicUserHash } from '../src/publish/keys/basic-auth-users.ts'
import { WireExchange } from '../src/wire/http1/exchange.ts'
import { Fields } from '../src/wire/http1/fields.ts'
import { readHead } from '../src/wire/http1/head.ts'
import { readPath } from '../src/wire/http1/path.ts'
import { AnswerHead } from '../src/wire/http1/response-head.ts'
import { assertLinear, type Work } from './worlds/base/growth.ts'

const answerHead = (before: string) => (text: string) => {
  const head = `${before}${text}\r\n\r\n`
  return new AnswerHead().parseRepaired(Buffer.from(head, 'latin1'), head, new Fields())
}
const repeated = (unit: string) => (length: number) => unit.repeat(Math.ceil(length / unit.length))
const between = (front: string, unit: string, back: string) => (length: number) => front + repeated(unit)(length) + back
const numbered =
  (front: string, item: (number: number) => string, back = '') =>
  (length: number) => {
    const items: string[] = []
    for (let size = 0; size < length; size += items.at(-1)!.length) items.push(item(items.length))
    return front + items.join('') + back
  }
const nested = (open: string, close: string) => (length: number) => {
  const depth = Math.ceil(length / (open.length + close.length))
  return open.repeat(depth) + close.repeat(depth)
}

/** Texts of one shape each, of any length: what has stopped parsers elsewhere, and what ours look for. */
const SHAPES: Readonly<Record<string, (length: number) => string>> = {
  ...Object.fromEntries(
    [
      ...' \t\r\n"\'\\/=&;:,.?#@%+-_~<>{}[]()|^$*!0aA\u00ff',
      '\u0301',
      '\u0301\u0316',
      '\uff9e\u0334',
      'ü',
      '😀',
      '\ud800',
      '\0',
    ].map((unit) => [JSON.stringify(unit), repeated(unit)]),
  ),
  ...Object.fromEntries(
    [
      'a=',
      'a&',
      'a;',
      'a,',
      'a b',
      '%41',
      '%',
      'a=b&',
      'a=b; ',
      '"a"',
      '\\"',
      '"a":',
      '\\u0061',
      '/..',
      '/./',
      '%2e%2e/',
      '::',
      'a.',
      '1.',
      '-----BEGIN A-----',
      '-----BEGIN CERTIFICATE-----',
      '<a',
      '<a>',
      '</a>',
      '<!--',
      '&amp;',
      ';q=',
      'a/b,',
      '*/*;q=0.1,',
      '{{',
      '${',
      'xn--a.',
      'a@',
      ' =',
      '= ',
      '\r\n\r\n',
      '--',
      '--b\r\n',
      'a: b\r\n',
    ].map((unit) => [JSON.stringify(unit), repeated(unit)]),
  ),
  'blanks within a text': between('a', ' ', 'b'),
  'tabs within a text': between('a=b,', '\t', 'c'),
  'equals signs within a text': between('a', '=', 'b'),
  'pairs without a value, and one with': between('', 'a&', 'b=c'),
  'a quoted text': between('"', 'a', '"'),
  'a quoted text of escapes': between('"', '\\\\', '"'),
  'a quoted text without an end': between('"', '\\"', ''),
  'a list': between('[0', ',0', ']'),
  'a list of blanks': between('["a"', ' ', ']'),
  'many members': numbered('{"a":0', (number) => `,"b${number}":0`, '}'),
  'many members with escapes': numbered('{"a":0', (number) => `,"\\u0062${number}":0`, '}'),
  'one member many times': between('{"a":0', ',"a":0', '}'),
  'deep lists': nested('[', ']'),
  'deep objects': nested('{"a":', '}'),
  'many parameters': numbered('', (number) => `p${number}=1&`),
  'many cookies': numbered('', (number) => `c${number}=1; `),
  'many fields': numbered('GET / HTTP/1.1\r\nHost: a\r\n', (number) => `f${number}: 1\r\n`, '\r\n'),
  'a long field': between('GET / HTTP/1.1\r\nHost: a\r\nX: a', ' ', 'b\r\n\r\n'),
  'a long path': between('GET /', 'a/../', ' HTTP/1.1\r\nHost: a\r\n\r\n'),
  'a long number': between('{"a":', '9', '}'),
  'a long host': between('https://', 'ü', '/'),
  'a long host of labels': between('https://', 'ü.', 'a/'),
  'a long address': between('https://a/', 'b/../', ''),
  'a token': between('eyJhbGciOiJFUzI1NiJ9.', 'A', '.AAAA'),
  'a token of dots': repeated('e.'),
  'Basic credentials': between('Basic ', 'AAAA', '=='),
  'Basic with blanks': between('Basic ', ' ', 'A'),
  'addresses of proxies': repeated('10.0.0.1, '),
  'addresses with ports': repeated('[::1]:80,'),
  'a certificate': between('-----BEGIN CERTIFICATE-----\n', 'AAAA', '\n-----END CERTIFICATE-----\n'),
  'a certificate without an end': between('-----BEGIN CERTIFICATE-----\n', 'A', ''),
  certificates: repeated('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
  'a signature input': between('sig1=(', '"@method" ', ');created=1;keyid="a"'),
  'parameters of a signature': between('sig1=()', ';a="b"', ''),
  'parts of a form': repeated('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nc\r\n'),
  'fields of a part': between('--b\r\n', 'A: b\r\n', '\r\nc\r\n--b--\r\n'),
  'a long field of a part': between('--b\r\nContent-Disposition: form-data; name="', 'a', '"\r\n\r\nc\r\n--b--\r\n'),
  'parameters of a part': between('--b\r\nContent-Disposition: form-data', '; a="b"', '\r\n\r\nc\r\n--b--\r\n'),
  'a part that almost ends': between(
    '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n',
    '\r\n--',
    '\r\n--b--\r\n',
  ),
}

const bytesOf = (text: string) => Buffer.from(text, 'utf8')
const NOBODY = { byCredential: async () => undefined, byCookie: async () => undefined }
const trusted = addressList(['10.0.0.0/8', '::/0'])
const NAMES: ReadonlySet<string> = new Set(['secret', 'p1'])
const tagged = () => new ApiTags({ apiTags: [], nodeTags: [], tagHeaders: ['x'] }).forSession(undefined)
const redacted =
  (type: string): Work =>
  (text) =>
    redactBody(bytesOf(text), { type, encoding: '', totalBytes: text.length }, NAMES)

/** Everything that reads what anybody may send, as text of any length, with the longest that reaches it. */
const FORM = 'application/x-www-form-urlencoded'
const TEXT: ValueShape = { scalars: ['text'], items: undefined, members: undefined, rest: undefined }
const CHECKED: BodyTypeCheck = {
  check: () => [],
  shape: TEXT,
  encodings: new Map(),
  unread: new Set(),
  fill: undefined,
}
const checkedWith = (a: ValueShape): BodyTypeCheck => ({ ...CHECKED, shape: { ...TEXT, members: new Map([['a', a]]) } })
const LISTS = checkedWith({ ...TEXT, items: TEXT })
const NESTED = checkedWith({ ...TEXT, members: new Map([['a', { ...TEXT, items: TEXT }]]) })
const partsOf = (text: string) =>
  '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(text.length >> 6).concat('--b--')
const openQuery = (names: number) =>
  ({ hasQuery: true, query: Array.from({ length: names }, (_, at) => `n${at}=1`).join('&') }) as Exchange
const OPEN_OBJECT = {
  ...{ in: 'query', name: 'filter', style: 'form', explode: true, others: new Set() },
  shape: { ...TEXT, scalars: [], members: new Map(), rest: TEXT },
} as unknown as ParameterCheck
const PRINTF = parseBodyTemplate('{{ printf .f }}')

const PARSERS: Readonly<Record<string, { readonly work: Work; readonly most: number }>> = {
  'JSON of the dashboard': { work: (text) => readJson(bytesOf(text)), most: 65_536 },
  'multipart forms': { work: (text) => readUpload(bytesOf(text), 'multipart/form-data; boundary=b'), most: 262_144 },
  'a form that is checked': { work: (text) => bodyValues(bytesOf(text), FORM, CHECKED), most: 131_072 },
  'a list in a form that is checked': { work: (text) => bodyValues(bytesOf(text), FORM, LISTS), most: 131_072 },
  'an object in a form that is checked': {
    work: (text) => bodyValues(Buffer.concat([bytesOf('a[a]=1&'), bytesOf(text)]), FORM, NESTED),
    most: 131_072,
  },
  'members of an object in a form that is checked': {
    work: (text) => bodyValues(bytesOf('a[a][]=1&'.repeat(text.length >> 3)), FORM, NESTED),
    most: 131_072,
  },
  'a multipart form that is checked': {
    work: (text) => bodyValues(bytesOf(`--b\r\n${text}\r\n--b--`), 'multipart/form-data; boundary=b', CHECKED),
    most: 131_072,
  },
  'parts of a form that is checked': {
    work: (text) => bodyValues(bytesOf(partsOf(text)), 'multipart/form-data; boundary=b', LISTS),
    most: 65_536,
  },
  'members of an open object in a query': {
    work: (text) => spelledParameter(openQuery(text.length >> 3), OPEN_OBJECT, new Map()),
    most: 16_384,
  },
  'a format in a body template': { work: (text) => renderTemplate(PRINTF, { f: text }), most: 131_072 },
  'XML for a body template': { work: (text) => parseXml(text), most: 131_072 },
  'XML in an element': { work: (text) => parseXml(`<a>${text}</a>`), most: 131_072 },
  'XML in a tag': { work: (text) => parseXml(`<a ${text}>`), most: 131_072 },
  'type of a multipart form': { work: (text) => readUpload(bytesOf('a'), `multipart/form-data;${text}`), most: 65_536 },
  'form or JSON': { work: (text) => fieldsOf({ queryAll: () => [], bytes: () => bytesOf(text) }), most: 65_536 },
  'search parameters': { work: searchParams, most: 65_536 },
  'X-Forwarded-For': {
    work: (text) => forwardedClient('10.0.0.1', { forwardedFor: text, realIp: text }, trusted),
    most: 65_536,
  },
  'credentials of the dashboard': {
    work: (authorization) => identifyCaller(NOBODY, { method: 'GET', headers: { authorization } }),
    most: 65_536,
  },
  'path behind an unknown method': { work: (text) => unreadPath(bytesOf(`BREW /${text}`)), most: 65_536 },
  'session cookie': { work: (text) => readSessionCookie(text), most: 65_536 },
  'SAML by redirect': { work: (text) => redirectQuery(`/a?${text}`), most: 65_536 },
  'compressed SAML': {
    work: (text) => inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: 65_536 }),
    most: 65_536,
  },
  'email address': { work: toEmail, most: 65_536 },
  'name of a user': { work: (text) => basicUserHash({ sealKey: bytesOf('key') }, 'org', text), most: 65_536 },
  developer: { work: (text) => readDeveloper({ email: text, fields: { a: text } }), most: 65_536 },
  'text to search for': { work: foldCase, most: 65_536 },
  slug: { work: slugOf, most: 65_536 },
  'redirect URI': { work: isRedirectUri, most: 65_536 },
  PEM: { work: readCertificate, most: 262_144 },
  'Basic of OAuth': { work: (text) => readBasic([text]), most: 65_536 },
  'forms of OAuth': { work: parseForm, most: 65_536 },
  'strict JSON': { work: (text) => readStrictObject(bytesOf(text)), most: 65_536 },
  'JSON Web Token': { work: (text) => readCompact(text, 65_536, ['']), most: 65_536 },
  'JSON Web Key': { work: (text) => readPublicJwk({ kty: 'RSA', e: text, n: text }), most: 65_536 },
  'message signature': { work: (text) => readMessageSignature(text, text), most: 65_536 },
  'Cache-Control': { work: (text) => readDirectives([text]), most: 65_536 },
  dates: { work: (text) => readHttpDate(text, 0), most: 65_536 },
  'JSON of traffic': { work: (text) => jsonFlaw(JSON.stringify(JSON.parse(text))), most: 65_536 },
  Accept: { work: (text) => preferredType(text, ['application/json', 'text/html']), most: 65_536 },
  'tags of a header': { work: (text) => tagged().key({ get: () => text }), most: 65_536 },
  'cookie of a credential': { work: (text) => cookieValue(text, 'none'), most: 65_536 },
  'cookies passed on': { work: (text) => withoutCookie(text, 'c1', true), most: 65_536 },
  'parameter of a credential': { work: (text) => singleParameter(text, 'none'), most: 65_536 },
  'parameters of a name': { work: (text) => queryValues(text, 'none'), most: 65_536 },
  'query passed on': { work: (text) => withoutQuery(text, 'p1'), most: 32_768 },
  Bearer: { work: withoutBearer, most: 65_536 },
  'trace context': {
    work: (text) => readTraceContext(['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'], [text]),
    most: 65_536,
  },
  'readings of a path': { work: (text) => otherReadings(readablePath(`/${text}`)), most: 65_536 },
  path: { work: (text) => readPath(`/${text}`), most: 65_536 },
  'request head': {
    work: (text) =>
      readHead(new WireExchange(), text, { maxHeadBytes: 1_048_576, maxFields: 1000, allowUnderscores: false }),
    most: 262_144,
  },
  'answer head, repaired': { work: answerHead(`HTTP/1.1 200 OK\nX: `), most: 65_536 },
  'lengths of an answer': { work: answerHead('HTTP/1.1 200 OK\r\nContent-Length: 5'), most: 65_536 },
  'recorded address': { work: (text) => redactUrl(text, NAMES), most: 65_536 },
  'recorded head': { work: (text) => redactHead(`GET / HTTP/1.1\r\nA: ${text}\r\n\r\n`, NAMES), most: 65_536 },
  'recorded JSON': { work: redacted('application/json'), most: 65_536 },
  'recorded form': { work: redacted('application/x-www-form-urlencoded'), most: 65_536 },
  'recorded parts': { work: redacted('multipart/form-data'), most: 65_536 },
  'recorded text': { work: redacted('text/plain'), most: 16_384 },
}

for (const [name, { work, most }] of Object.entries(PARSERS)) {
  test(`time to read grows with length and no faster: ${name}`, async () => {
    for (const [shape, make] of Object.entries(SHAPES)) await assertLinear(`${name} of ${shape}`, work, make, most)
  })
}
