import type { Route } from '../routes/route.ts'

/** A group of calls in the document; generators make a class of each. */
interface Tag {
  readonly name: string
  readonly description: string
  /** Paths that belong to it. */
  readonly paths: RegExp
}

/** The first that fits a path holds. */
const TAGS: readonly Tag[] = [
  tag('installation', 'Calls with the admin secret: organisations, users, imports.', /^\/admin\//),
  tag('analytics', 'Requests that the gateway counted.', /^\/api\/(?:usage|errors|activity|uptime)\//),
  tag('keys', 'Keys, with their sessions.', /^\/api\/(?:apis\/)?keys\b|^\/api\/apis\/\{\w+\}\/keys\b/),
  tag('labels', 'Labels of APIs.', /\/labels\b/),
  tag(
    'oauth-clients',
    'OAuth clients and their tokens.',
    /^\/api\/apis\/oauth\/|\/authorize-client$|\/notifications\//,
  ),
  tag('oauth-clients', 'OAuth clients and their tokens.', /^\/api\/apis\/\{\w+\}\/notifications$/),
  tag('apis', 'APIs, in classic and OpenAPI format.', /^\/api\/(?:apis\b|cache\/)/),
  tag('assets', 'Templates of APIs.', /^\/api\/assets\b/),
  tag('audit-logs', 'Changes, who made them, and undoing them.', /^\/api\/(?:audit-logs|deleted-ids)\b/),
  tag('certificates', 'Certificates and the APIs that use them.', /^\/api\/certs\b/),
  tag('policies', 'Policies: access rights, rate limits and quotas by name.', /^\/api\/portal\/policies\b/),
  tag('developers', 'Developers, their keys and OAuth apps.', /^\/api\/portal\/developers\b/),
  tag('key-requests', 'Requests of developers for keys.', /^\/api\/portal\/requests\b/),
  tag('portal', 'Catalogue, documentation and look of the portal.', /^\/api\/portal\//),
  tag('portal-session', 'Calls of a signed-in developer.', /^\/(?:portal|oauth-clients)\//),
  tag('webhooks', 'Webhooks and their deliveries.', /^\/api\/hooks\b/),
  tag('signing-keys', 'Keys that sign JWT access tokens.', /^\/api\/oauth\/signing-keys\b/),
  tag('single-sign-on', 'Identity profiles, and sign-in at identity providers.', /^\/(?:api\/)?(?:tib|auth|sso|tap)\b/),
  tag('organisations', 'The organisation of the caller.', /^\/api\/org(?:anisations)?\b/),
  tag('users', 'Users of the dashboard.', /^\/api\/users\b/),
  tag('user-groups', 'Groups of users, with their permissions.', /^\/api\/usergroups\b/),
  tag('moves', 'Installation moves: dump, compare and synchronise.', /^\/api\/moves\b/),
  tag('logs', 'Records of single requests.', /^\/api\/logs\b/),
  tag('system', 'Nodes, settings and licence.', /^\/(?:api\/)?(?:system|licen[cs]e)\b/),
  tag('health', 'Health and metrics of the dashboard.', /^\/(?:hello|health|ready|metrics)$/),
  tag(
    'documentation',
    'The description of this API, and schemas of API definitions.',
    /^\/api\/(?:svc-)?(?:openapi|docs|schemas?)\b/,
  ),
  tag('sign-in', 'Sign-in, sessions, second factors and passkeys.', /^\/api\//),
]

function tag(name: string, description: string, paths: RegExp): Tag {
  return { name, description, paths }
}

/** The tag of a call. */
export function tagOf({ path }: Pick<Route, 'path'>): string {
  return TAGS.find(({ paths }) => paths.test(path))?.name ?? 'sign-in'
}

/** Groups in the order in which a new installation needs them. */
const IN_USE = [
  ...[
    'apis',
    'policies',
    'keys',
    'oauth-clients',
    'certificates',
    'labels',
    'developers',
    'key-requests',
    'portal',
    'portal-session',
  ],
  ...[
    'analytics',
    'logs',
    'webhooks',
    'users',
    'user-groups',
    'organisations',
    'sign-in',
    'single-sign-on',
    'audit-logs',
    'assets',
  ],
  ...['signing-keys', 'system', 'health', 'moves', 'documentation', 'installation'],
]

/** The tags of a document, in the order of use. */
export function tagObjects(): { readonly name: string; readonly description: string }[] {
  const all = new Map(TAGS.map(({ name, description }) => [name, { name, description }]))
  return [...all.values()].sort((a, b) => IN_USE.indexOf(a.name) - IN_USE.indexOf(b.name))
}
