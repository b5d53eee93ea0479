import { Anchor, Badge, Button, Code, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { IdCardIcon, PlusIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import { type IdentityProfile, listProfiles, PROFILES_KEY } from '../../api/people/single-sign-on.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'
import { kindOf, signInPath } from './profile-values.ts'
import { AdminsWarning, SsoOffWarning, UnverifiedWarning } from './warnings.tsx'

/** Ways to sign in elsewhere. */
export default function Identity() {
  return (
    <>
      <PageHead title={say('identity.title')} hint={say('identity.hint')}>
        <NewProfile />
      </PageHead>
      <Guarded permission="idm">
        <List />
      </Guarded>
    </>
  )
}

function NewProfile() {
  if (!useMay('idm', 'write')) return null
  return (
    <Button component={Link} to="/identity/new" leftSection={<PlusIcon size={16} aria-hidden />}>
      {say('identity.new')}
    </Button>
  )
}

function List() {
  const profiles = useQuery({ queryKey: [...PROFILES_KEY, 'list'], queryFn: ({ signal }) => listProfiles(signal) })
  return (
    <Stack gap="md">
      {(profiles.data?.length ?? 0) > 0 && (
        <>
          <SsoOffWarning />
          <AdminsWarning />
          <UnverifiedWarning />
        </>
      )}
      <DataTable
        label={say('identity.title')}
        columns={COLUMNS}
        rows={profiles.data}
        rowKey={({ ID }) => ID}
        error={profiles.error}
        retry={() => void profiles.refetch()}
        empty={
          <Empty icon={IdCardIcon} title={say('identity.empty')} hint={say('identity.emptyHint')}>
            <NewProfile />
          </Empty>
        }
      />
    </Stack>
  )
}

const COLUMNS: readonly Column<IdentityProfile>[] = [
  {
    name: 'name',
    title: say('identity.name'),
    cell: ({ ID, Name }) => (
      <Anchor
        component={Link}
        to={`/identity/${encodeURIComponent(ID)}`}
        fw={550}
        size="sm"
        dir="auto"
        ta="left"
        lineClamp={2}
      >
        {Name || ID}
      </Anchor>
    ),
  },
  {
    name: 'kind',
    title: say('identity.kind'),
    cell: (profile) => {
      const kind = kindOf(profile)
      return <Badge variant="light">{kind === undefined ? say('identity.unknownKind') : say(`identity.${kind}`)}</Badge>
    },
  },
  {
    name: 'to',
    title: say('identity.leadsTo'),
    wideOnly: true,
    cell: ({ ActionType }) =>
      say(ActionType === 'GenerateTemporaryAuthToken' ? 'identity.toKey' : 'identity.toSession'),
  },
  {
    name: 'address',
    title: say('identity.signInAt'),
    wideOnly: true,
    cell: (profile) => {
      const kind = kindOf(profile)
      return kind === undefined ? null : <Code className="wrap-anywhere">{signInPath(profile.ID, kind)}</Code>
    },
  },
]
