import { Button, Grid, Paper, Skeleton, Stack, Tabs } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/people/session.ts'
import {
  deleteProfile,
  type IdentityProfile,
  PROFILES_KEY,
  readProfile,
  replaceProfile,
} from '../../api/people/single-sign-on.ts'
import { useAddress } from '../../app/address.ts'
import { notifyDone } from '../../parts/display/notify.ts'
import { PageHead } from '../../parts/display/page-head.tsx'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { useGuardedSave } from '../../parts/forms/conflict.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { NotReadable } from '../../parts/tables/not-readable.tsx'
import { say } from '../../texts/say.ts'
import { AddressCard } from './address-card.tsx'
import { JsonForm } from './json-form.tsx'
import { ProfileForm } from './profile-form.tsx'
import { kindOf } from './profile-values.ts'
import { TestCard } from './test-card.tsx'
import { AdminsWarning, SsoOffWarning } from './warnings.tsx'

const ABSENT = { tab: 'form' } as const

/** One way to sign in elsewhere. */
export default function OneProfile() {
  const { id = '' } = useParams({ strict: false })
  return (
    <Guarded permission="idm" title={say('identity.title')}>
      <Loaded key={id} id={id} />
    </Guarded>
  )
}

function Loaded({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...PROFILES_KEY, 'one', id],
    queryFn: ({ signal }) => readProfile(id, signal),
  })
  if (error !== null) return <NotReadable error={error} retry={refetch} title={say('identity.gone')} to="/identity" />
  if (data === undefined) return <Skeleton h={400} />
  return <Page profile={data} />
}

function Page({ profile }: { readonly profile: IdentityProfile }) {
  const [{ tab }, set] = useAddress(ABSENT)
  const [loaded, setLoaded] = useState(profile)
  const client = useQueryClient()
  const readOnly = !useMay('idm', 'write')
  const { save, dialog } = useGuardedSave()
  const kind = kindOf(loaded)
  const submit = async (mine: unknown) => {
    const { outcome } = await save<unknown>({
      loaded,
      mine,
      read: () => readProfile(loaded.ID),
      write: (one) => replaceProfile(loaded.ID, one as IdentityProfile),
    })
    if (outcome === 'saved') notifyDone(say('part.saved'))
    return readProfile(loaded.ID)
  }
  const onDone = async (stored: unknown) => {
    setLoaded(stored as IdentityProfile)
    await client.invalidateQueries({ queryKey: PROFILES_KEY })
  }
  const round = JSON.stringify(loaded)
  return (
    <>
      {dialog}
      <PageHead title={loaded.Name || loaded.ID} hint={kind && say(`identity.${kind}`)}>
        <DeleteProfile profile={loaded} />
      </PageHead>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack mb="md">
            <SsoOffWarning />
            {tab === 'json' && <AdminsWarning />}
          </Stack>
          <Tabs value={kind === undefined ? 'json' : tab} onChange={(next) => set({ tab: next ?? '' })}>
            <Tabs.List mb="md">
              {kind !== undefined && <Tabs.Tab value="form">{say('identity.form')}</Tabs.Tab>}
              <Tabs.Tab value="json">{say('identity.json')}</Tabs.Tab>
            </Tabs.List>
            {kind !== undefined && (
              <Tabs.Panel value="form">
                <Paper withBorder p="md">
                  <ProfileForm key={round} isNew={false} stored={loaded} {...{ kind, readOnly, submit, onDone }} />
                </Paper>
              </Tabs.Panel>
            )}
            <Tabs.Panel value="json">
              <JsonForm key={round} stored={loaded} {...{ readOnly, submit, onDone }} />
            </Tabs.Panel>
          </Tabs>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          {kind !== undefined && <AddressCard profile={loaded} kind={kind} />}
          {kind !== undefined && <TestCard profile={loaded} kind={kind} />}
        </Grid.Col>
      </Grid>
    </>
  )
}

function DeleteProfile({ profile: { ID, Name } }: { readonly profile: IdentityProfile }) {
  const [asked, setAsked] = useState(false)
  const client = useQueryClient()
  const navigate = useNavigate()
  if (!useMay('idm', 'write')) return null
  return (
    <>
      <Button
        color="red"
        variant="light"
        leftSection={<Trash2Icon size={16} aria-hidden />}
        onClick={() => setAsked(true)}
      >
        {say('identity.delete')}
      </Button>
      <ConfirmDelete
        name={asked ? Name || ID : undefined}
        depends={say('identity.deleteDepends')}
        run={() => deleteProfile(ID)}
        onClose={() => setAsked(false)}
        onDone={async () => {
          await navigate({ to: '/identity', replace: true })
          client.removeQueries({ queryKey: [...PROFILES_KEY, 'one', ID] })
          await client.invalidateQueries({ queryKey: PROFILES_KEY })
        }}
      />
    </>
  )
}
