/** Objects whose ids callers choose, and that a path of the dashboard or of `/svc/` names by them. */
export type ChosenIdKind = 'api' | 'policy' | 'oauth_client' | 'key'

/** Words of paths where an id of the kind may come too: a call about an object with such an id would be taken for another call. */
export const RESERVED_IDS: Readonly<Record<ChosenIdKind, ReadonlySet<string>>> = {
  api: new Set([
    ...['apis', 'categories', 'create', 'dry-run', 'export', 'groups', 'hosts', 'import', 'jwks', 'keys', 'labels'],
    ...['migrate', 'oas', 'oauth', 'search'],
  ]),
  policy: new Set(['search']),
  oauth_client: new Set(['authorize-client', 'endpoint', 'revoke', 'revoke_all', 'rotate', 'secrets', 'tokens']),
  key: new Set(['aggregate', 'create', 'detailed', 'endpoint', 'keys', 'policy', 'preview', 'search', 'subscriptions']),
}

/** Why an id cannot be chosen for a new object, in words that follow its name; undefined where it can. */
export function reservedIdFlaw(kind: ChosenIdKind, id: string): string | undefined {
  return RESERVED_IDS[kind].has(id) ? `${id} is a word of the paths of this API; choose another id` : undefined
}
