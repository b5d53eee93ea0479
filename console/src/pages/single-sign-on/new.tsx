import { Paper, Radio, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { createProfile, type IdentityProfile, PROFILES_KEY } from '../../api/people/single-sign-on.ts'
import { useAddress } from '../../app/address.ts'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { say } from '../../texts/say.ts'
import { ProfileForm } from './profile-form.tsx'
import { KINDS } from './profile-values.ts'
import { SsoOffWarning } from './warnings.tsx'

const ABSENT = { kind: 'oidc' } as const
const NOTHING = {}

/** Adds a way to sign in elsewhere. */
export default function NewProfile() {
  return (
    <>
      <PageHead title={say('identity.new')} hint={say('identity.emptyHint')} />
      <Guarded permission="idm" intent="write">
        <Form />
      </Guarded>
    </>
  )
}

function Form() {
  const [{ kind: named }, set] = useAddress(ABSENT)
  const kind = KINDS.find((one) => one === named) ?? 'oidc'
  const client = useQueryClient()
  const navigate = useNavigate()
  return (
    <Stack maw={900}>
      <SsoOffWarning />
      <Radio.Group label={say('identity.which')} value={kind} onChange={(next) => set({ kind: String(next) })}>
        <SimpleGrid cols={{ base: 1, sm: 3 }} mt="xs">
          {KINDS.map((one) => (
            <Radio.Card key={one} value={one} p="md">
              <Stack gap={4}>
                <Text fw={600}>{say(`identity.${one}`)}</Text>
                <Text size="xs" c="dimmed">
                  {say(`identity.${one}Hint`)}
                </Text>
                <Radio.Indicator />
              </Stack>
            </Radio.Card>
          ))}
        </SimpleGrid>
      </Radio.Group>
      <Paper withBorder p="md">
        <ProfileForm
          key={kind}
          isNew
          kind={kind}
          stored={NOTHING}
          readOnly={false}
          submit={createProfile}
          onDone={async (made) => {
            await client.invalidateQueries({ queryKey: PROFILES_KEY })
            await navigate({ to: `/identity/${encodeURIComponent((made as IdentityProfile).ID)}` })
          }}
          onCancel={() => void navigate({ to: '/identity' })}
        />
      </Paper>
    </Stack>
  )
}
