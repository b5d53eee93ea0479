const DAYS = '{}/{}/{}/{}/{}/{}'

/**
 * Calls that need the permission `analytics`: what their placeholders name, and the rest. The days of the path name nothing; the
 * numbers of what is not to be seen are none.
 */
export function analyticsCalls() {
  const all = (paths: readonly string[]) => paths.map((path) => [`GET /api/${path}/${DAYS}`, [], {}] as const)
  const about = <Name extends string>(name: Name, rest: { readonly owned?: number }, paths: readonly string[]) =>
    paths.map((path) => [`GET /api/${path}/${DAYS}`, [name], rest] as const)
  return [
    ...all(['usage', 'usage/apis', 'usage/tags', 'usage/versions', 'usage/codes', 'errors/count', 'uptime']),
    ...all(['activity/errors', 'activity/keys', 'activity/oauthid']),
    ...all(['activity/endpoints', 'activity/geo', 'activity/developers']),
    ...about('api', {}, ['usage/apis/{}', 'uptime/{}', 'uptime/hosts/{}']),
    ...about('key', { owned: 0 }, ['activity/keys/{}', 'activity/keys/endpoint/{}']),
    ...about('key', {}, ['activity/keys/aggregate/{}']),
    ...about('client', { owned: 0 }, ['activity/oauthid/{}', 'activity/oauthid/endpoint/{}']),
  ]
}
