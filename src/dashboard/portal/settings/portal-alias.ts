import type { Route } from '../../routes/route.ts'

const LONG = '/api/portal/'

/** The same routes, each `/api/portal/...` as `/portal/...` too: clients know both. The copy does the same work. */
export function withPortalAlias(routes: readonly Route[]): Route[] {
  return routes.flatMap((route) =>
    route.path.startsWith(LONG)
      ? [route, { ...route, path: route.path.slice('/api'.length), aliasOf: route.path }]
      : [route],
  )
}
