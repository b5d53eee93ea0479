import { Stack } from '@mantine/core'
import type { IdentityProfile } from '../../api/people/single-sign-on.ts'
import { CopyText } from '../../parts/display/copy.tsx'
import { say } from '../../texts/say.ts'
import { Fact, SideCard } from '../users/side-cards.tsx'
import { baseOf, type Kind, signInPath } from './profile-values.ts'

/** URLs to register at the provider. */
export function AddressCard({ profile, kind }: { readonly profile: IdentityProfile; readonly kind: Kind }) {
  const start = `${baseOf(profile) || window.location.origin}${signInPath(profile.ID, kind)}`
  return (
    <SideCard
      title={kind === 'ldap' ? say('identity.signInAt') : say('identity.addresses')}
      hint={say('identity.addressesHint')}
    >
      <Stack gap="xs">
        {kind === 'oidc' && (
          <Fact name={say('identity.callback')}>
            <CopyText value={`${start}/callback`} />
          </Fact>
        )}
        {kind === 'saml' && (
          <>
            <Fact name={say('identity.metadataOurs')}>
              <CopyText value={`${start}/metadata`} />
            </Fact>
            <Fact name={say('identity.assertionUrl')}>
              <CopyText value={`${start}/callback`} />
            </Fact>
          </>
        )}
        <Fact name={say('identity.beginAt')}>
          <CopyText value={start} />
        </Fact>
      </Stack>
    </SideCard>
  )
}
