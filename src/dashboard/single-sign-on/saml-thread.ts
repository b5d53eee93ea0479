import type { Profile, SAML } from '@node-saml/node-saml'
import { toFault } from '../../errors/fault.ts'
import type { IdpProfile } from '../../model/single-sign-on/idp-profile.ts'
import { serveTasks } from '../../model/threads/task-thread.ts'
import type { Millis } from '../../model/time/clock.ts'
import type { ProvenPerson } from './claims.ts'
import { checkBearer, provenBy } from './saml-assertion.ts'
import { type PlainSamlOptions, samlLibrary } from './saml-library.ts'
import { type IdpMetadata, readIdpMetadata } from './saml-metadata.ts'

/** The request to the thread: to read metadata of an identity provider, or to judge a response of it. */
export type SamlTask =
  | { readonly task: 'metadata'; readonly xml: string }
  | {
      readonly task: 'judge'
      /** The response, base64. */
      readonly encoded: string
      readonly options: PlainSamlOptions
      /** Our request that it must answer, and the time of that request. */
      readonly requestId: string
      readonly requestedAt: Millis
      readonly profile: Pick<IdpProfile, 'id' | 'config'>
      readonly bearer: Parameters<typeof checkBearer>[1]
    }

/** A response that is in order. */
export interface JudgedResponse {
  readonly assertionId: string
  readonly proven: ProvenPerson
}

export type SamlResult = IdpMetadata | JudgedResponse

serveTasks<SamlTask>(async (asked): Promise<SamlResult> => {
  if (asked.task === 'metadata') return readIdpMetadata(asked.xml)
  const { encoded, options, requestId, requestedAt, profile, bearer } = asked
  const found = await validated(samlLibrary(options, requestId, requestedAt), encoded)
  const { id } = checkBearer(found, bearer)
  return { assertionId: id, proven: provenBy(found, profile) }
})

async function validated(saml: SAML, SAMLResponse: string): Promise<Profile> {
  try {
    const { profile } = await saml.validatePostResponseAsync({ SAMLResponse })
    if (profile === null) throw new Error('the response holds no assertion')
    return profile
  } catch (error) {
    throw new Error(`the SAML response is refused: ${toFault(error).message}`)
  }
}
