import { flag, group, whole } from './leaves.ts'

/** `portal`: what the developer portal's management calls take. */
export const portalSettings = group({
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
