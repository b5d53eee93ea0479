import { type Static, Type } from 'typebox'
import { flag, group, list, objects, PORT, text, whole, wholeOrAuto } from './leaves.ts'
import { analyticsSettings, metricsSettings, monitorSettings, openTelemetrySettings } from './schema-observability.ts'
import {
  bootstrapSettings,
  emailBackend,
  peopleSecurity,
  signInSecurity,
  signInSettings,
  ssoDashboard,
  ssoSettings,
} from './schema-sign-in.ts'
import { backupSettings, storageSettings } from './schema-storage.ts'
import { dashboardTls, gatewayTls } from './schema-tls.ts'

/** Settings directly below `dashboard` about policies, keys and OAuth clients. */
const keySettings = {
  allow_explicit_policy_id: flag(
    true,
    'Keep the `id` that comes with a new policy. False replaces it by the storage id.',
  ),
  allow_unsafe_policy_ids: flag(
    false,
    'Let ids of policies hold other characters than letters, digits, `.`, `_`, `-` and `~`.',
  ),
  enable_hashed_keys_listing: flag(
    true,
    'Lists of keys show their hashes where the keys themselves are not kept. False answers such a list with 404.',
  ),
  enable_update_key_by_hash: flag(true, 'A key may be changed by who knows its hash only.'),
  enable_delete_key_by_hash: flag(true, 'A key may be deleted by who knows its hash only.'),
  disable_key_actions_by_username: flag(false, 'Basic users cannot be read, changed or deleted by their names.'),
  oauth_redirect_uri_separator: text(
    '',
    'What parts several addresses in `redirect_uri` of an OAuth client, such as `;`. Empty: it holds one address.',
    { pattern: '^[;,| ]?$', allowed: 'one of `;`, `,`, `|` and a space, or nothing' },
  ),
}

/** `portal`: what the developer portal's management calls take. */
const portalSettings = group({
  allow_unsafe_get: flag(
    false,
    'Let the deprecated call that changes the policy of a key by GET do so. It is refused for browser sessions all the same.',
  ),
  max_documentation_bytes: whole(
    4_194_304,
    [1024, 16_777_216],
    'Largest documentation of an API that the portal keeps, in bytes.',
  ),
})

const TIMEOUT_MS = [1, 86_400_000] as const
const HOUR_MS = 3_600_000

const http2 = group({
  enabled: flag(
    true,
    'Accept HTTP/2: over TLS by ALPN, without TLS by its preface. HTTP/1.1 stays available on the same ports.',
  ),
  max_concurrent_streams: whole(100, [1, 10_000], 'Requests that one HTTP/2 connection may have open at once.'),
})

const segmentation = group({
  node_is_segmented: flag(
    false,
    'Load only the APIs that carry one of `tags`. An API without tags is then not loaded.',
  ),
  tags: list('Tags of this node, compared exactly. A segmented node without tags loads no API.'),
})

const gateway = group({
  listen_host: text('0.0.0.0', 'Address for traffic.', { pattern: '^\\S+$', allowed: 'a host name or address' }),
  listen_port: whole(8080, PORT, 'Port for traffic. 0 takes any free port.'),
  listen_socket: text(
    '',
    'Unix socket for traffic besides the port, such as `unix:/run/gatehouse/http.sock`. Those who connect there count as `127.0.0.1`. Empty: none.',
    { allowed: '`unix:` and an absolute path' },
  ),
  listen_socket_mode: text('660', 'Permissions of `listen_socket`, in octal.', {
    pattern: '^[0-7]{3}$',
    allowed: 'three octal digits, such as 660',
  }),
  control_host: text('127.0.0.1', 'Address of the control port.', {
    pattern: '^\\S+$',
    allowed: 'a host name or address',
  }),
  control_port: whole(
    0,
    PORT,
    'Separate port for `/svc/`, `/metrics`, `/hello` and `/ready`. 0 serves them on the traffic port. With several `workers` of a cluster each has its own: this one and those after it.',
  ),
  secret: text(
    '',
    'Secret for `X-Svc-Authorization`. Empty: one is made at the first start and kept in the data folder. Given by a file, it is read again when the file changes.',
    {
      secret: true,
    },
  ),
  secret_previous: text('', 'Another value of `gateway.secret` that is accepted while callers change to the new one.', {
    secret: true,
  }),
  public_url: text(
    '',
    'Address under which clients reach this gateway, such as `https://api.example.org`. Issuers of authorization servers begin with it.',
    {
      allowed: 'an absolute http or https URL without query, fragment, user or password',
    },
  ),
  app_path: text('', 'Folder with API definitions in files, watched for changes. Empty: none.'),
  trusted_proxies: list(
    'Addresses and networks (CIDR) of proxies in front. Only they may name the client, in `X-Forwarded-For` or, without it, in `X-Real-IP`; what others say of forwarding goes no further.',
    { allowed: 'IPv4 or IPv6 addresses, or networks such as 10.0.0.0/8' },
  ),
  proxy_protocol_networks: list(
    'Addresses and networks (CIDR) of load balancers that begin each connection to the traffic and TLS ports with the PROXY protocol, version 1 or 2. They must send it; others must not. Empty: none.',
    { allowed: 'IPv4 or IPv6 addresses, or networks such as 10.0.0.0/8' },
  ),
  max_body_bytes: whole(0, [0, Number.MAX_SAFE_INTEGER], 'Largest request body for any API. 0: no bound.'),
  body_bytes_in_flight: whole(
    67_108_864,
    [1_048_576, Number.MAX_SAFE_INTEGER],
    'Bytes of request bodies, beyond the first 65,536 of each, that a gateway holds at once for checks, templates, modules and its own calls. Further ones are refused with 503. A client address or a key has at most as much as it leaves free, one of several organisations three times that, the first body of each fifteen times that, callers who are not identified three quarters.',
  ),
  max_head_bytes: whole(16_384, [1024, 1_048_576], 'Largest request head: request line and all fields.'),
  max_fields: whole(100, [10, 1000], 'Most fields in a request head.'),
  allow_underscore_fields: flag(
    false,
    'Fields with `_` in their name are taken. Upstreams behind CGI, WSGI or Rack cannot tell `X_Role` from `X-Role`. Off: they are dropped and counted, but for names from which an API reads its credential or version.',
  ),
  head_timeout_ms: whole(10_000, TIMEOUT_MS, 'Longest time from the first byte of a request head to its last.'),
  keep_alive_ms: whole(75_000, TIMEOUT_MS, 'Longest wait for the next request on an open connection.'),
  body_idle_ms: whole(30_000, TIMEOUT_MS, 'Longest silence of a client that sends a body or reads an answer.'),
  max_connections: whole(0, [0, 10_000_000], 'Open client connections at once, of each worker. 0: no bound.'),
  workers: wholeOrAuto(
    1,
    [1, 256],
    'Gateways on this machine that share `listen_port`, each a node: threads of one process with the embedded store, processes in a cluster. `auto`: one for each usable core, from three on one less beside a dashboard, and at most one for each 256 MiB beyond the first 256. Stored answers, breakers and turns of balancing are those of each. More than one needs Linux or FreeBSD.',
  ),
  drain_delay_ms: whole(
    5000,
    [0, HOUR_MS],
    'How long a gateway or dashboard keeps accepting after SIGTERM, `/ready` with 503 meanwhile: longer than load balancers need to notice. The default holds in a cluster; with the embedded store it is 0. SIGINT never waits.',
  ),
  drain_timeout_ms: whole(15_000, [0, HOUR_MS], 'How long a stopping gateway lets requests in flight finish.'),
  proxy_default_timeout_ms: whole(
    30_000,
    TIMEOUT_MS,
    'Longest wait for the head of an upstream answer, unless the API says otherwise.',
  ),
  batch_timeout_ms: whole(
    300_000,
    TIMEOUT_MS,
    'Longest time that one request of a batch may take, its answer included; the part is answered with 504 then.',
  ),
  connect_timeout_ms: whole(5000, TIMEOUT_MS, 'Longest wait for a connection to an upstream.'),
  upstream_idle_ms: whole(30_000, [0, 86_400_000], 'Longest silence within an upstream answer. 0: no bound.'),
  upstream_keep_ms: whole(
    4000,
    [0, HOUR_MS],
    'How long an unused upstream connection is kept. Keep it below what the upstream does.',
  ),
  dns_servers: list('DNS servers that name the targets of APIs with service discovery. Empty: those of the system.', {
    allowed: 'IP addresses, such as 10.0.0.53 or 10.0.0.53:5353',
  }),
  upstream_sockets: list(
    'Paths of Unix sockets that API definitions may name as their upstream (`unix:/run/app.sock`). All others are refused. Empty: none. Set it for dashboards and gateways alike.',
    { allowed: 'absolute paths' },
  ),
  upstream_max_idle: whole(256, [0, 65_535], 'Unused connections kept per upstream.'),
  proxy_enable_http2: flag(
    false,
    'Offer HTTP/2 to upstreams with `https` URLs. Those that do not choose it are asked over HTTP/1.1. `h2c` URLs are asked over it always.',
  ),
  cache_bytes: whole(
    67_108_864,
    [0, Number.MAX_SAFE_INTEGER],
    'Memory for stored answers of all APIs that ask for it. The least used are dropped first. 0: nothing is stored.',
  ),
  cache_entry_bytes: whole(1_048_576, [0, Number.MAX_SAFE_INTEGER], 'Largest answer that is stored.'),
  cache_wait_ms: whole(
    5000,
    [0, HOUR_MS],
    'How long a request waits for the answer that an equal one is fetching, before it asks the upstream itself.',
  ),
  session_cache_entries: whole(
    200_000,
    [100, 100_000_000],
    'Sessions (keys and tokens) kept in memory. The least used are dropped first.',
  ),
  session_cache_bytes: whole(
    536_870_912,
    [100_000, Number.MAX_SAFE_INTEGER],
    'Memory for what those sessions hold of their own, estimated: three bytes for each character of their text, and 600 for each path and endpoint that they do not share with others. The least used are dropped first.',
  ),
  hash_keys: flag(
    true,
    'Keep only the hash of a key. False also keeps the key itself, encrypted, so that it can be shown again.',
  ),
  hash_key_function_fallback: list(
    'How keys were hashed that were imported from an earlier product: each is found so once, then by SHA-256 as all others. Empty: nothing is looked for, and nothing costs.',
    { pattern: '^(murmur32|murmur64|murmur128|sha256)$', allowed: 'murmur32, murmur64, murmur128 and sha256' },
  ),
  legacy_key_orgs: list('Organisations of that product, by its ids: the keys that people chose begin with them there.'),
  oauth_token_expire: whole(
    3600,
    [1, 31_536_000],
    'Life of an access token in seconds, where neither client, policy nor API says otherwise.',
  ),
  oauth_refresh_token_expire: whole(1_209_600, [1, 315_360_000], 'Life of a refresh token in seconds.'),
  oauth_code_expire: whole(60, [1, 600], 'Life of an authorization code in seconds.'),
  oauth_assertion_expire: whole(
    3600,
    [60, 86_400],
    'Longest life of the assertion by which a client proves who it is (`private_key_jwt`), in seconds.',
  ),
  oauth_registration_token: text('', 'Initial access token of dynamic client registration. Empty: it is off.', {
    secret: true,
  }),
  min_token_length: whole(16, [3, 256], 'Shortest custom key. A shorter credential is unknown without a look-up.'),
  allow_explicit_policy_id: flag(
    true,
    'Keep the `id` that comes with a new policy. False replaces it by the storage id.',
  ),
  enable_duplicate_slugs: flag(false, 'Store an API whose listen path is taken, unserved. False refuses it with 409.'),
  db_app_conf_options: segmentation,
  management_node: flag(
    false,
    'This node is for administration and loads every API. Refused together with `node_is_segmented`.',
  ),
  node_name: text('', 'Name of this node in logs and answers. Empty: the host name.'),
  monitor: monitorSettings,
  access_log: flag(true, 'Write one JSON line per request to standard output.'),
  access_log_level: Type.Enum(['info', 'warn', 'error'], {
    default: 'info',
    description:
      'Which requests the access log has: `info`: all; `warn`: those that were refused, failed or were cut; `error`: those answered with 5xx or cut by the upstream or the gateway.',
  }),
  access_log_sample: whole(
    1,
    [1, 1_000_000],
    'Of the requests that went well the access log has one in so many. Others are never left out.',
  ),
  request_id: Type.Enum(['own', 'answers', 'all'], {
    default: 'all',
    description:
      'Where the id of a request is sent as `X-Request-Id`: `own`: on answers that the gateway makes itself; `answers`: on those of upstreams too, whose own is replaced; `all`: to upstreams as well, in place of what the client sent. A trusted proxy (`trusted_proxies`) may name the id; else it is ours.',
  }),
  http2,
  modules: group({
    path: text(
      '',
      'Folder with the modules that APIs may run: anyone who may publish an API may run them. Empty: none.',
    ),
    timeout_ms: whole(1000, [10, 60_000], 'Longest time that the modules of one phase of a request may take together.'),
    memory_mb: whole(64, [16, 4096], 'Most memory for the values of the modules of one API.'),
  }),
  tls: gatewayTls,
})

const dashboard = group({
  listen_host: text('0.0.0.0', 'Address of the dashboard.', { pattern: '^\\S+$', allowed: 'a host name or address' }),
  listen_port: whole(3000, PORT, 'Port of the dashboard. 0 takes any free port.'),
  admin_secret: text(
    '',
    'Secret of the admin API. Empty: one is made at the first start and kept in the data folder. Given by a file, it is read again when the file changes.',
    {
      secret: true,
    },
  ),
  admin_secret_previous: text(
    '',
    'Another value of `dashboard.admin_secret` that is accepted while callers change to the new one.',
    { secret: true },
  ),
  trusted_proxies: list(
    'Addresses and networks (CIDR) of proxies in front of the dashboard. Only they may name the client, in `X-Forwarded-For` or, without it, in `X-Real-IP`.',
    { allowed: 'IPv4 or IPv6 addresses, or networks such as 10.0.0.0/8' },
  ),
  page_size: whole(10, [1, 1000], 'Rows of a page, where the caller asks for pages.'),
  max_body_bytes: whole(16_777_216, [1024, 1_073_741_824], 'Largest body that the dashboard takes.'),
  body_bytes_in_flight: whole(
    33_554_432,
    [65_536, Number.MAX_SAFE_INTEGER],
    'Bytes of request bodies that the dashboard holds at once, a quarter of them of public calls. Further ones are refused with 503 until there is room; an address or a user has at most as much as it leaves free, one of several organisations three times that, the first body of each fifteen times that.',
  ),
  max_connections: whole(
    1000,
    [10, 1_000_000],
    'Open connections to the dashboard at once. An address that is no trusted proxy gets a quarter of them.',
  ),
  enable_ownership: flag(false, 'APIs that name owners, and what is based on them, are seen by their owners alone.'),
  edge_endpoints: objects(
    {
      name: Type.String({ minLength: 1, maxLength: 200 }),
      endpoint: Type.String({ minLength: 1, maxLength: 2048 }),
      tags: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { uniqueItems: true })),
    },
    'Gateways that callers reach, and the tags of each: an API is shown at those that load it. One without tags loads every API. Empty: there is one gateway, at `gateway.public_url`.',
    { allowed: 'a list of objects with `name`, `endpoint` (an http or https URL) and `tags` (texts)' },
  ),
  ...keySettings,
  enable_duplicate_slugs: flag(
    false,
    'Store an API whose listen path is taken, unserved, and keep its `api_id`. False refuses it with 409.',
  ),
  allow_unsafe_oas: flag(false, 'Let the calls of classic APIs replace the definition of an OpenAPI one.'),
  import_url: group({
    enabled: flag(false, 'Let an OpenAPI document be read from an address that the caller gives.'),
    allow_private: flag(false, 'Let such addresses be on loopback, link-local and private networks.'),
  }),
  ...signInSettings,
  ...ssoDashboard,
  security: group({
    ...signInSecurity,
    ...peopleSecurity,
  }),
  email_backend: emailBackend,
  tls: dashboardTls,
  audit: group({
    enabled: flag(true, 'Record changes and refusals in the store. False records nothing, and nothing can be undone.'),
    reads: flag(false, 'Record calls that only read, too.'),
    detailed_recording: flag(false, 'Record what was sent and answered, too, without secrets.'),
    retention_days: whole(365, [0, 36_500], 'How long entries are kept. 0: for ever.'),
  }),
})

/** Every setting, once: name, type, default, bounds and the line for the docs. Names are what people write. */
export const ConfigSchema = group({
  gateway,
  dashboard,
  storage: storageSettings,
  analytics: analyticsSettings,
  backup: backupSettings,
  bootstrap: bootstrapSettings,
  sso: ssoSettings,
  portal: portalSettings,
  metrics: metricsSettings,
  opentelemetry: openTelemetrySettings,
  webhooks: group({
    allow_private: flag(false, 'Let webhooks reach loopback, link-local and private addresses.'),
  }),
  sample: flag(true, 'Fill an empty store with a sample API, a protected API and a small echo upstream.'),
  compat: group({
    legacy_statuses: flag(false, 'Answer with the older statuses, for clients that depend on them.'),
    vendor_aliases: list(
      'Words accepted instead of `svc` in headers, path prefixes, extension keys and environment names.',
      { pattern: '^(?!svc$)[a-z][a-z0-9]*$', allowed: 'lower-case words of letters and digits, not "svc"' },
    ),
    path_matching: Type.Enum(['contains', 'begins', 'ends', 'whole'], {
      default: 'contains',
      description:
        'How rules match in definitions that come in a word of vendor_aliases and do not say so: anywhere in a path; at its beginning, at its end, or both, where the gateway before had prefix or suffix matching. Keys and policies that come under the path of such a word, or without `paths=as_written` to the dashboard of an installation that names one, have the paths of their rights written out so.',
    }),
  }),
  log: group({
    level: Type.Enum(['silent', 'error', 'warn', 'info', 'debug'], {
      default: 'info',
      description: 'How much is logged.',
    }),
  }),
})

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly Item[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T

/** The settings of one process, checked and frozen. */
export type Config = DeepReadonly<Static<typeof ConfigSchema>>
