import { ANALYTICS } from './analytics.ts'
import { API_AUTH } from './api-auth.ts'
import { API_RESILIENCE } from './api-resilience.ts'
import { API_SETTINGS } from './api-settings.ts'
import { APIS } from './apis.ts'
import { HISTORY } from './history.ts'
import { KEYS } from './keys.ts'
import { LISTS } from './lists.ts'
import { CLIENTS } from './oauth-clients.ts'
import { OVERVIEW } from './overview.ts'
import { PEOPLE } from './people.ts'
import { PLATFORM } from './platform.ts'
import { POLICIES } from './policies.ts'
import { PORTAL } from './portal.ts'
import { PORTAL_SETTINGS } from './portal-settings.ts'
import { PROFILE } from './profile.ts'
import { REVIEW } from './review.ts'
import { SETTINGS } from './settings.ts'
import { IDENTITY } from './single-sign-on.ts'
import { WEBHOOKS } from './webhooks.ts'

/** The texts of everything behind the sign-in, by their names: for types and tests. Pages load those of their own areas (`texts-by-area.ts`). */
export const AREAS = {
  ...KEYS,
  ...CLIENTS,
  ...LISTS,
  ...APIS,
  ...API_SETTINGS,
  ...API_AUTH,
  ...API_RESILIENCE,
  ...IDENTITY,
  ...PEOPLE,
  ...PLATFORM,
  ...ANALYTICS,
  ...OVERVIEW,
  ...HISTORY,
  ...PORTAL,
  ...PORTAL_SETTINGS,
  ...POLICIES,
  ...PROFILE,
  ...REVIEW,
  ...SETTINGS,
  ...WEBHOOKS,
} as const
