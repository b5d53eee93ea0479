import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { queries } from '../api/calls/queries.ts'
import { SESSION_KEY } from '../api/people/session.ts'
import { readAddressParams, writeAddressParams } from './address.ts'
import { NotFound } from './not-found.tsx'
import { PageError } from './page-error.tsx'
import { RequireSession } from './require-session.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: PageError })

/** A page that needs nobody to be signed in. */
const open = (path: string, load: () => Promise<{ default: React.ComponentType }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) })

/** Everything else is inside the gate. */
const gate = createRoute({ getParentRoute: () => root, id: 'gate', component: RequireSession })

/** Nothing of a page is loaded before the sign-in. */
const page = (path: string, load: () => Promise<{ default: React.FunctionComponent }>) => {
  const component = lazyRouteComponent(load)
  const { preload } = component
  component.preload = async () => {
    if (queries.getQueryData(SESSION_KEY) !== undefined) await preload?.()
  }
  return createRoute({ getParentRoute: () => gate, path, component })
}

const tree = root.addChildren([
  open('/bootstrap', () => import('../pages/sign-in/set-up.tsx')),
  open('/forgotten-password', () => import('../pages/sign-in/forgotten-password.tsx')),
  open('/reset-password', () => import('../pages/sign-in/reset-password.tsx')),
  gate.addChildren([
    page('/', () => import('../pages/home/home.tsx')),
    page('/policies', () => import('../pages/policies/list.tsx')),
    page('/policies/new', () => import('../pages/policies/new.tsx')),
    page('/policies/$id', () => import('../pages/policies/one.tsx')),
    page('/keys', () => import('../pages/keys/list.tsx')),
    page('/keys/new', () => import('../pages/keys/new.tsx')),
    page('/keys/$hash', () => import('../pages/keys/one.tsx')),
    page('/users', () => import('../pages/users/list.tsx')),
    page('/users/new', () => import('../pages/users/new.tsx')),
    page('/users/$id', () => import('../pages/users/one.tsx')),
    page('/groups', () => import('../pages/groups/list.tsx')),
    page('/groups/new', () => import('../pages/groups/new.tsx')),
    page('/groups/$id', () => import('../pages/groups/one.tsx')),
    page('/identity', () => import('../pages/single-sign-on/list.tsx')),
    page('/identity/new', () => import('../pages/single-sign-on/new.tsx')),
    page('/identity/$id', () => import('../pages/single-sign-on/one.tsx')),
    page('/organisations', () => import('../pages/organisations/list.tsx')),
    page('/audit', () => import('../pages/audit-log/list.tsx')),
    page('/audit/$id', () => import('../pages/audit-log/entry.tsx')),
    page('/nodes', () => import('../pages/nodes/list.tsx')),
    page('/webhooks', () => import('../pages/webhooks/list.tsx')),
    page('/webhooks/$id', () => import('../pages/webhooks/one.tsx')),
    page('/certificates', () => import('../pages/certificates/list.tsx')),
    page('/signing-keys', () => import('../pages/signing-keys/list.tsx')),
    page('/developers', () => import('../pages/developers/developers.tsx')),
    page('/developers/new', () => import('../pages/developers/new-developer.tsx')),
    page('/developers/$id', () => import('../pages/developers/developer.tsx')),
    page('/key-requests', () => import('../pages/key-requests/key-requests.tsx')),
    page('/catalogue', () => import('../pages/catalogue/catalogue.tsx')),
    page('/portal-settings', () => import('../pages/portal-settings/settings.tsx')),
    page('/apis', () => import('../pages/apis/list/list.tsx')),
    page('/apis/new', () => import('../pages/apis/list/new.tsx')),
    page('/apis/$id', () => import('../pages/apis/editor/one.tsx')),
    page('/apis/$id/import', () => import('../pages/apis/openapi/import-over.tsx')),
    page('/analytics', () => import('../pages/analytics/analytics.tsx')),
    page('/requests', () => import('../pages/requests/requests.tsx')),
    page('/profile', () => import('../pages/profile/profile.tsx')),
    page('/settings', () => import('../pages/settings/settings.tsx')),
    page('/labels', () => import('../pages/labels/labels.tsx')),
  ]),
])

/** Addresses and their pages. A page is loaded when it is first opened. */
export const router = createRouter({
  routeTree: tree,
  parseSearch: readAddressParams,
  stringifySearch: writeAddressParams,
  defaultPreload: 'intent',
  scrollRestoration: true,
})
