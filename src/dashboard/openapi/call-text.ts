import { intentOf } from '../access/permit.ts'
import type { Route } from '../routes/route.ts'
import { CALL_TEXTS } from './call-texts.ts'
import { operationIdOf } from './operation-ids.ts'

const DATES = '/{fromDay}/{fromMonth}/{fromYear}/{toDay}/{toMonth}/{toYear}'

/** The description of a call: what follows from its declaration, and who may make it. */
export function callText(route: Route): string {
  const own = CALL_TEXTS[operationIdOf(route)]
  return [...(own === undefined ? [] : [own]), ...factsOf(route), accessText(route), ...insteadOf(route)].join(' ')
}

function factsOf({
  method,
  path,
  query = {},
  owned,
  own,
  once,
  bodyOptional,
  bodyIs,
  entityVersions = [],
}: Route): string[] {
  const isTagged = entityVersions.length > 0
  const reads = method === 'GET'
  return [
    ...(path.endsWith(DATES)
      ? ['Covers the days from the first to the last date of the path (UTC); the query filters and groups.']
      : []),
    ...('p' in query ? ['Answers a page: `p` counts from 1; 0 and less answer everything.'] : []),
    ...(reads && isTagged
      ? ['The answer has an `ETag`, for `If-None-Match` and for `If-Match` of a later change.']
      : []),
    ...(!reads && isTagged
      ? ['With `If-Match`, the `ETag` of what was read, it is refused (412) where another caller has changed it since.']
      : []),
    ...(once === true ? ['It can be used once.'] : []),
    ...(bodyOptional === true ? ['The body may be left out.'] : []),
    ...(bodyIs === 'form'
      ? ['The body is a form.']
      : bodyIs === 'upload'
        ? ['The body is an upload (`multipart/form-data`).']
        : []),
    ...(owned === undefined
      ? []
      : ['With ownership on, only owners and administrators of the organisation can use it.']),
    ...(own === undefined ? [] : ['About your own user it needs no permission.']),
  ]
}

function insteadOf({ deprecated }: Route): string[] {
  return deprecated === undefined ? [] : [`Use \`${deprecated}\` instead.`]
}

function accessText(route: Route): string {
  const { access } = route
  if (access === 'public') return 'Needs no credential.'
  if (access === 'signed-in') return 'For every signed-in user.'
  if (access === 'admin') return 'For administrators of the organisation.'
  if (access === 'installation') return 'Needs the admin secret.'
  return `Needs the permission \`${access.permission}\` (${intentOf(route)}).`
}
