import { type AdminAnswer, jsonText } from './answer.ts'
import type { AdminRoute } from './route.ts'

/** `/openapi.json`: the description of these calls, itself included. Its tables are loaded when the first caller asks. */
export function openapiRoute(version: string, calls: () => readonly AdminRoute[]): AdminRoute {
  let document: Promise<AdminAnswer> | undefined
  return {
    method: 'GET',
    path: '/openapi.json',
    run: () => {
      document ??= written(version, calls()).catch((error: unknown) => {
        // A table that could not be loaded, such as for want of descriptors, may be the next time.
        document = undefined
        throw error
      })
      return document
    },
  }
}

async function written(version: string, calls: readonly AdminRoute[]): Promise<AdminAnswer> {
  const { adminOpenapiOf } = await import('../admin-openapi/admin-openapi.ts')
  return jsonText(JSON.stringify(adminOpenapiOf(calls, version)))
}
