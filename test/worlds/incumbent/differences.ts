import { getAt } from '../../../src/model/apis/definition/tree.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { type Difference, unrecorded } from './difference.ts'
import { SESSION_DIFFERENCES } from './differences-sessions.ts'
import type { Replayed } from './replay.ts'

const requestOf = ({ recording }: Replayed) => recording.requests.at(-1)!
const methodOf = (replayed: Replayed) => requestOf(replayed).split(' ', 1)[0]!
const targetOf = (replayed: Replayed) =>
  requestOf(replayed)
    .split('\r\n', 1)[0]!
    .replace(/^\S+ /, '')
    .replace(/ HTTP\/1\.\d$/, '')
const pathOf = (replayed: Replayed) => targetOf(replayed).replace(/\?.*$/s, '')
const fieldOf = (replayed: Replayed, name: string) =>
  new RegExp(`\r\n${name}: *([^\r]*)`, 'i').exec(requestOf(replayed).split('\r\n\r\n', 1)[0]!)?.[1]
const extensionOf = ({ definition }: Replayed) => (definition['x-inc-api-gateway'] ?? {}) as JsonObject
const classicOf = (replayed: Replayed, path: string) => getAt(replayed.definition, path.split('.'))
const listenPathOf = (replayed: Replayed) =>
  String(
    getAt(replayed.definition, ['proxy', 'listen_path']) ??
      getAt(extensionOf(replayed), ['server', 'listenPath', 'value']) ??
      '',
  )
const statusThere = ({ recording }: Replayed) => recording.there[0]!.status
const reached = ({ here }: Replayed) => here.received.length > 0
const reachedThere = ({ recording }: Replayed) => recording.there[0]!.received.length > 0
const listsOf = (replayed: Replayed) => JSON.stringify(classicOf(replayed, 'version_data.versions') ?? {})
const operationsOf = (replayed: Replayed) =>
  JSON.stringify(getAt(extensionOf(replayed), ['middleware', 'operations']) ?? {})
const hasTemplate = (replayed: Replayed) =>
  /"transform(?:_response)?":|"transform(?:Request|Response)Body":/.test(listsOf(replayed) + operationsOf(replayed))
const usesContext = (replayed: Replayed) =>
  (JSON.stringify(replayed.definition).match(/[A-Za-z0-9+/]{20,}={0,2}/g) ?? []).some((text) =>
    Buffer.from(text, 'base64').toString().includes('_context'),
  ) || replayed.recording.there.some(({ received }) => received.some(({ body }) => body.includes('_context')))
const isValidated = (replayed: Replayed) => operationsOf(replayed).includes('"validateRequest"')
const isCached = (replayed: Replayed) =>
  classicOf(replayed, 'cache_options.enable_cache') === true ||
  JSON.stringify(extensionOf(replayed)).includes('"cache":{"enabled":true')

/** In the order in which they are looked for. */
export const DIFFERENCES: readonly Difference[] = [
  {
    name: 'Definitions refused at save',
    there: 'taken, and served in part or not at all',
    here: 'refused with the place and the reason: features that the gateway does not serve, expressions with lookaround or too large to run in linear time, rewrites with dot segments, user names and passwords in URLs',
    why: 'what a definition asks for is served or refused, never dropped',
    met: ({ refused, here }) => refused !== undefined && here.status >= 400,
  },
  {
    name: 'Paths with `//` and dot segments',
    there: 'redirected (301) to the clean path',
    here: 'served: rules see the clean path, upstreams get doubled slashes as they were sent',
    why: 'a redirect turns a POST into a GET',
    met: (replayed) => statusThere(replayed) === 301 && /\/\/|\/\.{1,2}(?:\/|$)|%2f/i.test(pathOf(replayed)),
  },
  {
    name: 'A listen path without its last slash',
    there: 'not found for `/a` where the listen path is `/a/`',
    here: 'served: a last slash of a listen path makes no difference',
    why: 'callers leave it out',
    serves: true,
    met: (replayed) => {
      const pattern = listenPathOf(replayed)
        .replace(/\/$/, '')
        .replace(/\{[^}]*\}/g, '[^/]+')
      return new RegExp(`^${pattern}$`).test(pathOf(replayed))
    },
  },
  {
    name: 'Custom domains',
    there:
      'a domain of a definition counts only where the gateway has `enable_custom_domains`; else the API is served at every host',
    here: 'an API with a domain is served at that domain alone; take the domain out, or switch it off, where the gateway before ignored it',
    why: 'what a definition limits to a host stays so',
    met: (replayed) =>
      replayed.here.status === 404 && reachedThere(replayed) && (classicOf(replayed, 'domain') ?? '') !== '',
  },
  {
    name: 'Listen paths end at a slash',
    there: '`/a` also serves `/ab`, and a placeholder takes more than a segment',
    here: 'not found: a listen path is a number of whole segments',
    why: 'two APIs must not share paths by accident',
    met: (replayed) =>
      replayed.here.status === 404 &&
      replayed.here.body.includes('Not Found') &&
      reachedThere(replayed) &&
      replayed.refused === undefined &&
      classicOf(replayed, 'active') !== false,
  },
  {
    name: 'Escapes in the listen path',
    there: 'compared as they are sent, so that `/%61` misses the API at `/a`',
    here: 'compared decoded',
    why: 'one path must not have two owners',
    met: (replayed) => pathOf(replayed).includes('%69nner'),
  },
  {
    name: 'Hosts are compared without letter case and last dot',
    there: 'by their bytes',
    here: 'as RFC 9110 section 4.2.3 says',
    why: 'browsers and DNS do so',
    serves: true,
    met: (replayed) => /[A-Z]|\.(?::\d+)?$/.test(fieldOf(replayed, 'Host') ?? '') || replayed.recording.api === 'dom',
  },
  {
    name: 'Host fields that are none',
    there: 'taken',
    here: 'refused (400)',
    why: 'RFC 9112 section 3.2',
    met: ({ here }) => here.status === 400 && here.body.includes('malformed Host'),
  },
  {
    name: 'Encoded slashes and backslashes in a path',
    there: 'taken',
    here: 'refused (400), unless the API has `allowEncodedSlashes`',
    why: 'upstreams that decode them would see a path that no rule saw',
    met: ({ here }) => here.status === 400 && here.body.includes('encoded slash'),
  },
  {
    name: 'Bytes that no URL holds',
    there: '`"`, `<`, `>`, `#` and an encoded NUL are taken',
    here: 'refused (400)',
    why: 'no client that serialises URLs sends them',
    met: (replayed) => replayed.here.status === 400 && /["<>#]|%00/.test(targetOf(replayed)),
  },
  {
    name: "`!`, `'`, `(`, `)` and `*` in a path",
    there: 'forwarded as escapes',
    here: 'forwarded as sent',
    why: 'the two are equivalent, and signatures of callers hold',
    met: (replayed) => /[!'()*]/.test(pathOf(replayed)) && reached(replayed),
  },
  {
    name: 'Methods in another letter case, and CONNECT',
    there: 'forwarded',
    here: 'refused (400, 501)',
    why: 'an upstream that ignores case would take `get` past the rules for GET',
    met: (replayed) => replayed.here.received.length === 0 && /^(?:get|CONNECT)$/.test(methodOf(replayed)),
  },
  {
    name: 'TRACE',
    there: 'forwarded',
    here: 'refused (405), unless the API sets `allowTrace` (`allow_trace`)',
    why: 'its answer repeats what was sent, credentials too',
    met: (replayed) => methodOf(replayed) === 'TRACE' && replayed.here.status === 405,
  },
  {
    name: 'Expect',
    there: 'forwarded',
    here: 'answered by the gateway, which forwards the body at once',
    why: 'it is for the next hop (RFC 9110 section 10.1.1)',
    met: (replayed) => fieldOf(replayed, 'Expect') !== undefined,
  },
  {
    name: 'Upstreams that fail',
    there: '500',
    here: '502; 500 with `compat.legacy_statuses`',
    why: 'RFC 9110 section 15.6.3',
    met: (replayed) => statusThere(replayed) === 500 && replayed.here.status === 502 && reachedThere(replayed),
  },
  {
    name: 'HEAD',
    there: 'not met by rules for GET, and not answered from the cache',
    here: 'judged by the rules for GET, answered from what GET stored',
    why: 'a rule for GET must not be passed by HEAD',
    serves: true,
    met: (replayed) => methodOf(replayed) === 'HEAD',
  },
  {
    name: 'Mocks behind authentication',
    there: 'a mock, and a path whose action is `reply`, answers without a credential',
    here: 'the credential is checked first, but for paths in `ignored`',
    why: 'what a definition closes stays closed',
    met: (replayed) => replayed.here.status === 401 && !reachedThere(replayed) && statusThere(replayed) === 200,
  },
  {
    name: 'Paths that are both blocked and mocked',
    there: 'answer with the mock in classic definitions',
    here: 'are refused (403)',
    why: 'what a definition closes stays closed',
    met: (replayed) => /"black_list".*"mock_response"/.test(listsOf(replayed)) && replayed.here.status === 403,
  },
  {
    name: 'Entries of `ignored` without a method',
    there: 'open the path to everybody, whatever the method',
    here: 'hold for no method; the answer to the save warns of it',
    why: 'nobody opens a path by leaving something out',
    met: (replayed) =>
      replayed.here.status === 401 &&
      reachedThere(replayed) &&
      /"ignored":\[\{(?:"path":"[^"]*"|,|"method":"")*\}/.test(listsOf(replayed)),
  },
  {
    name: 'Empty `method_actions`',
    there:
      'hold for no method in recorded definitions and in files; a definition that is sent to the API of the gateway is stored without the empty map, so that its entry holds for `method`, or for every method',
    here: 'hold for no method, whatever the way in; the answer to the save warns of it',
    why: 'one text has one meaning',
    serves: true,
    ...unrecorded('test/gateway/apis/vendor-lists.test.ts'),
  },
  {
    name: 'A reply with status 0',
    there: 'closes the connection without an answer',
    here: 'is a reply with 200',
    why: 'nobody means it so',
    serves: true,
    met: (replayed) => statusThere(replayed) === 0,
  },
  {
    name: 'Size limits for requests without Content-Length',
    there: 'refused (411), also without a body',
    here: 'only a body is refused so',
    why: 'a request without a body is within every limit',
    serves: true,
    met: (replayed) => statusThere(replayed) === 411,
  },
  {
    name: 'Size limits of requests whose method has no body',
    there: 'are not looked at for GET, HEAD, DELETE, OPTIONS and TRACE',
    here: 'those of an operation hold for every method; that of the whole API is not looked at here either',
    why: 'an upstream reads the body of such a request too',
    met: (replayed) =>
      statusThere(replayed) === 200 &&
      /^(?:GET|HEAD|DELETE|OPTIONS)$/.test(methodOf(replayed)) &&
      replayed.here.body.includes('Request is too large'),
  },
  {
    name: 'Size limits of paths',
    there: 'hold for paths below the listen path',
    here: 'hold as all other rules do: for every path that contains theirs, listen path included',
    why: 'one rule for all lists; the stricter reading',
    met: (replayed) => statusThere(replayed) === 200 && replayed.here.body.includes('Request is too large'),
  },
  {
    name: 'A version that is named twice',
    there: 'the first is taken',
    here: 'refused (400)',
    why: 'the upstream may take the other',
    met: ({ here }) => here.status === 400 && here.body.includes('more than once'),
  },
  {
    name: 'A version in the path with nothing behind it',
    there: 'is not stripped (`/v2` goes on as `/v2`)',
    here: 'is stripped, as it is in `/v2/`',
    why: 'the two are one path to every rule',
    met: (replayed) => classicOf(replayed, 'definition.location') === 'url' && /\/v2$/.test(pathOf(replayed)),
  },
  {
    name: 'Fields that are empty, or become so',
    there: 'an empty version field, and a Cookie field whose only cookie was the credential, go on empty',
    here: 'are removed',
    why: 'an empty field says nothing',
    met: (replayed) =>
      fieldOf(replayed, 'X-Api-Version') === '' ||
      replayed.recording.there[0]!.received.some(({ fields }) => fields.includes('cookie: ')),
  },
  {
    name: 'Versions that expire `never`',
    there: 'are expired, as with any date that is not written `YYYY-MM-DD HH:MM`',
    here: 'do not expire; dates of RFC 3339 are read, others that cannot be read are refused at save',
    why: 'the word says so',
    serves: true,
    met: (replayed) => listsOf(replayed).includes('"expires":"never"') && statusThere(replayed) === 403,
  },
  {
    name: 'Addresses of clients',
    there: '`X-Forwarded-For` and `X-Real-IP` of anybody count',
    here: 'only those of `gateway.trusted_proxies`',
    why: 'otherwise callers choose their address',
    serves: true,
    met: (replayed) =>
      fieldOf(replayed, 'X-Forwarded-For') !== undefined || fieldOf(replayed, 'X-Real-IP') !== undefined,
  },
  {
    name: 'OPTIONS that is no preflight',
    there: 'answered by the gateway where CORS is on',
    here: 'forwarded: a preflight has Origin and Access-Control-Request-Method',
    why: 'the Fetch standard',
    met: (replayed) =>
      methodOf(replayed) === 'OPTIONS' && fieldOf(replayed, 'Access-Control-Request-Method') === undefined,
  },
  {
    name: 'Turn of load balancing',
    there: 'targets in their order; a list that is empty is answered 503',
    here: 'weights are spread evenly; without a list the target URL serves',
    why: 'bursts of a heavy target are avoided',
    serves: true,
    met: (replayed) => classicOf(replayed, 'proxy.enable_load_balancing') === true,
  },
  {
    name: 'APIs that are not active',
    there: 'created through the gateway they are served',
    here: 'are not served',
    why: 'the switch says so',
    met: (replayed) => classicOf(replayed, 'active') === false,
  },
  {
    name: 'Letter case of the listen path',
    there: '`ignoreCase` is for paths below it',
    here: 'is for the whole path',
    why: 'one rule for one path',
    serves: true,
    met: (replayed) => getAt(extensionOf(replayed), ['middleware', 'global', 'ignoreCase', 'enabled']) === true,
  },
  {
    name: 'Request bodies that a template cannot read',
    there: 'go on as they came, or are taken for nothing',
    here: 'refused (400): no JSON, or the template cannot be met by it',
    why: 'a template that is to take something out must not be passed by',
    met: (replayed) => hasTemplate(replayed) && replayed.here.status === 400,
  },
  {
    name: 'Values in body templates',
    there:
      '`<no value>` for what is missing, `map[a:1]` and `[1 2]` for objects and lists, text within JSON as it is, and a list for a body is nothing',
    here: 'nothing (`null` outside of quotes in JSON), JSON, text escaped for JSON or XML; the list is `.array`',
    why: 'no caller writes the structure of a body, and upstreams can read it',
    met: (replayed) => hasTemplate(replayed) && replayed.here.status < 300 && !usesContext(replayed),
  },
  {
    name: 'The request in body templates',
    there: 'members of other names and shapes, and printed with `.`',
    here: 'the names of [variables](../reference/operations.md#variables), where a template asks for them',
    why: 'credentials are left out',
    met: (replayed) => hasTemplate(replayed) && usesContext(replayed),
  },
  {
    name: 'Groups of what a trigger found',
    there: '`trigger-0-name-0-0` is the find, followed by `-0`',
    here: 'the first group of the find',
    why: 'it is documented so there',
    met: (replayed) => /trigger-\d+-\w+-\d+-\d/.test(listsOf(replayed)),
  },
  {
    name: 'Answers from the cache',
    there:
      'ignores `Cache-Control` and `Authorization`, keeps nothing without response codes in OpenAPI definitions, and with `enable_upstream_cache_control` also what the upstream says nothing of',
    here: 'as RFC 9111 says: nothing that is `no-store`, nothing for requests with a credential unless the answer allows it; with `enable_upstream_cache_control` only what the upstream allows',
    why: 'answers for one caller must not reach another',
    met: isCached,
  },
  {
    name: 'Examples that a mock is asked for',
    there: '`Accept` is a single media type, else the answer is 500; a text is answered with its quotes',
    here: 'negotiated as RFC 9110 section 12.5.1 says (406); a text example is the text',
    why: 'clients send ranges and weights',
    serves: true,
    met: (replayed) => /"mockResponse"/.test(operationsOf(replayed)) && !reached(replayed),
  },
  {
    name: 'Checks of parameters and bodies',
    there:
      '`1` and `TRUE` are booleans, `uri` and `email` are not checked, the first of several values counts, empty values pass, bytes behind a JSON body are ignored; a query, or a JSON body, to which a default is added is written anew, in order of names',
    here: 'JSON Schema with its formats, for which `readOnly` is a note; several values for one are refused; bodies of media types that are no JSON, form or text pass; defaults are added to what was sent, which stays as it is; paths are compared decoded',
    why: 'the schema decides what is taken, and signatures of upstreams hold',
    serves: true,
    met: isValidated,
  },
  {
    name: 'JSON Web Tokens without `exp`',
    there: 'taken, for ever',
    here: 'refused (401), unless the API sets `disableExpiresAtValidation` (`jwt_disable_expires_at_validation`)',
    why: 'such a token ends only when its key does',
    ...unrecorded('test/gateway/authentication/jwt-choices.test.ts'),
  },
  {
    name: '`&` and `;` of a path in a value of the query',
    there:
      'a group of a rewrite brings them into the query as they are: `/r/1&admin=1` with the target `/n?v=$1` adds a parameter',
    here: 'they are escaped where a group of the path goes into the value of a parameter; other characters, and groups of the query, stay as sent',
    why: 'a caller must not add parameters that the definition does not name',
    met: (replayed) =>
      reached(replayed) &&
      reachedThere(replayed) &&
      /[&;]/.test(pathOf(replayed)) &&
      replayed.here.received[0]!.url.replaceAll('%26', '&').replaceAll('%3B', ';') ===
        replayed.recording.there[0]!.received[0]!.url,
  },
  {
    name: 'Short secrets of JSON Web Tokens',
    there: 'any length',
    here: 'less than 32 bytes are refused at save, unless the API sets `allowShortSecrets` (`jwt_allow_short_secrets`)',
    why: 'the secret can be found from one token by trying',
    ...unrecorded('test/gateway/authentication/jwt-choices.test.ts'),
  },
  {
    name: 'Mocks of lists',
    there: 'an entry of `mock_response` in a classic definition answers every path that contains its own',
    here: 'it answers its own path, as the mock of an operation does',
    why: 'a mock speaks for the operation that it describes',
    serves: true,
    ...unrecorded('test/gateway/apis/vendor-lists.test.ts'),
  },
  {
    name: 'Several credentials in one request',
    there: 'the cookie counts before the parameter, and that before the header; the others go on',
    here: 'refused (400) where the same credential is sent in two places',
    why: 'the upstream could read another one than the gateway',
    ...unrecorded('test/gateway/authentication/credential-places.test.ts'),
  },
  {
    name: 'Blanks between `Bearer` and a token',
    there: 'a second one belongs to the token, which is then unknown',
    here: 'any number of them',
    why: 'RFC 6750 section 2.1',
    serves: true,
    ...unrecorded('test/gateway/oauth/oauth-token.test.ts'),
  },
  {
    name: 'Identities that are numbers',
    there: 'refused (403): a claim that is no text names nobody',
    here: 'whole numbers are taken as their digits',
    why: 'issuers number their users, and the signature holds for the claim',
    serves: true,
    ...unrecorded('test/gateway/authentication/jwt-claims.test.ts'),
  },
  {
    name: 'Claims that are there and give nothing',
    there:
      'a policy claim that is empty or a list, and a scope claim that maps to nothing beside a policy, are passed over, so that default policies or the other claim count',
    here: 'refused (403)',
    why: 'a token that names a right must not get another one',
    ...unrecorded('test/gateway/authentication/jwt-claims.test.ts'),
  },
  {
    name: 'Key sets and `kid`',
    there: 'a token without `kid` is refused, and so is one whose `kid` no key has',
    here: 'keys without `kid` are tried for any token, and all keys for a token without one',
    why: 'RFC 7515 section 4.1.4: it is a hint, and the signature decides',
    ...unrecorded('test/gateway/authentication/jwt-key-sets.test.ts'),
  },
  {
    name: 'Parts of a request that a signature covers',
    there: 'those that it names, if only the date; `(request-target)` has no query, and its path is decoded',
    here: 'method, path, query and date, unless the API sets `coverage` (`hmac_coverage`) to `path` or `date`',
    why: 'what is not signed can be changed on the way',
    ...unrecorded('test/gateway/authentication/hmac.test.ts'),
  },
  {
    name: 'Dates and algorithms of signed requests, where the definition says nothing',
    there: 'any date, and any algorithm: unknown ones are SHA-1',
    here: 'five minutes, and SHA-256, 384 and 512; a skew of -1 and a list that names `hmac-sha1` are served as there',
    why: 'a request that was recorded could be sent again at any time',
    ...unrecorded('test/gateway/authentication/hmac.test.ts'),
  },
  {
    name: 'The API that a rewrite takes from the request',
    there: 'found by its id or its name, internal ones too',
    here: 'found by its id; an internal one, the same one and one of another organisation are not found (404)',
    why: 'what has no entry for callers must not get one by a name that they choose',
    ...unrecorded('test/cases/operation-redirects.json'),
  },
  {
    name: 'Forms in `request_data`',
    there: 'of any size; one whose media type has parameters does not reach the upstream',
    here: 'up to 1 MB and 10,000 fields where something asks for them, else refused (413, 400); with and without parameters',
    why: 'a form is read as a whole before a field of it is written',
    ...unrecorded('test/gateway/steps/form-variables.test.ts'),
  },
  {
    name: 'The name of a key in a token that its caller signed',
    there: 'a value of variables (`jwt_claims_sub`)',
    here: 'none: claims that hold it are left out',
    why: 'it is a credential, which no upstream is to get',
    ...unrecorded('test/gateway/authentication/jwt-of-keys.test.ts'),
  },
  ...SESSION_DIFFERENCES,
]
