import type { Route } from '../routes/route.ts'

/** Refusals that a call may answer, by what it declares: the API document names them, besides those of another form. */
export function declaredStatuses({ method, path, access, entityVersions = [] }: Route): number[] {
  const writes = method !== 'GET'
  return [
    400,
    ...(access === 'public' ? [] : [401, 403]),
    ...(path.includes('{') ? [404] : []),
    ...(writes && access !== 'public' ? [409] : []),
    ...(writes && entityVersions.length > 0 ? [412] : []),
  ]
}
