import type { Api, AuthRules } from '../../model/apis/definition/api.ts'
import type { SecretNames } from '../../model/secrets/redact-traffic.ts'

/** How the single requests of one chain are recorded. */
export class RecordPlan {
  readonly orgId: string
  readonly apiId: string
  readonly apiName: string
  readonly auth: AuthRules | undefined
  /** Where the API reads credentials; other secrets are found by name. */
  readonly secretNames: SecretNames
  /** True when heads and bodies are recorded too. */
  readonly detailed: boolean
  /** Requests since the last flush that were not recorded. */
  dropped = 0

  constructor(api: Api, everythingDetailed: boolean) {
    const { auth } = api
    this.orgId = api.orgId
    this.apiId = api.apiId
    this.apiName = api.name
    this.auth = auth
    this.detailed = everythingDetailed || api.record?.detailed === true
    const places = auth === undefined ? [] : [auth.header, auth.query, auth.cookie]
    const stripped = auth === undefined ? [] : [...auth.stripHeaders, ...auth.stripQueries, ...auth.stripCookies]
    this.secretNames = new Set(
      [...places, ...stripped].filter((name) => name !== undefined && name !== '').map((name) => name!.toLowerCase()),
    )
  }
}
