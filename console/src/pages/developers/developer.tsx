import { Button, Group, Menu, Paper, SimpleGrid, Skeleton, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ChevronDownIcon, LockKeyholeIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/people/session.ts'
import { DEVELOPERS_KEY, type Developer, readDeveloper } from '../../api/portal/developers.ts'
import { useAddress } from '../../app/address.ts'
import { CopyText } from '../../parts/display/copy.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { count, When } from '../../parts/display/when.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { History } from '../../parts/history/history.tsx'
import { State } from '../../parts/portal/state.tsx'
import { NotReadable } from '../../parts/tables/not-readable.tsx'
import { say } from '../../texts/say.ts'
import { DeleteDeveloper } from './delete-developer.tsx'
import { DeveloperApps } from './developer-apps.tsx'
import { DeveloperDetails } from './developer-details.tsx'
import { DeveloperKeys } from './developer-keys.tsx'
import { DeveloperOverview } from './developer-overview.tsx'
import { DeveloperRequests } from './developer-requests.tsx'
import { GiveAccess } from './give-access.tsx'
import { PasswordDialog } from './password-dialog.tsx'

const ABSENT = { tab: 'keys', changes: '' }

/** A developer: who it is, keys, apps and requests. */
export default function DeveloperPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  return (
    <Guarded permission="portal" title={say('shell.developers')}>
      <Loaded key={id} id={id} />
    </Guarded>
  )
}

function Loaded({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...DEVELOPERS_KEY, 'one', id],
    queryFn: ({ signal }) => readDeveloper(id, signal),
  })
  if (error !== null)
    return <NotReadable error={error} retry={refetch} title={say('portal.developerGone')} to="/developers" />
  if (data === undefined) return <Skeleton h={320} />
  return <Shown developer={data} />
}

function Shown({ developer }: { readonly developer: Developer }) {
  const [{ tab }, setAddress] = useAddress(ABSENT)
  const maySeeHistory = useMay('audit_logs')
  const apps = Object.values(developer.oauth_clients).reduce((sum, list) => sum + list.length, 0)
  return (
    <>
      <PageHead
        title={developer.email}
        hint={
          <Group gap="xs">
            {developer.inactive && <State isActive={false} />}
            <span>
              {say('portal.joined')} <When at={developer.date_created} />
            </span>
            <span aria-hidden>·</span>
            <span>
              {hasSignedIn(developer) ? (
                <>
                  {say('portal.lastSignedIn')} <When at={developer.last_login_date} />
                </>
              ) : (
                say('portal.neverSignedIn')
              )}
            </span>
          </Group>
        }
      >
        <GiveAccess developer={developer} />
        <More developer={developer} />
      </PageHead>
      <Facts developer={developer} />
      <Tabs value={tab} onChange={(to) => setAddress({ tab: to ?? '', changes: '' })} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="keys">
            {say('portal.keysTab', { count: count(Object.keys(developer.keys).length) })}
          </Tabs.Tab>
          <Tabs.Tab value="apps">{say('portal.appsTab', { count: count(apps) })}</Tabs.Tab>
          <Tabs.Tab value="requests">{say('shell.keyRequests')}</Tabs.Tab>
          <Tabs.Tab value="details">{say('portal.details')}</Tabs.Tab>
          <Tabs.Tab value="overview">{say('overview.title')}</Tabs.Tab>
          {maySeeHistory && <Tabs.Tab value="history">{say('history.title')}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="keys">
          <DeveloperKeys developer={developer} />
        </Tabs.Panel>
        <Tabs.Panel value="apps">
          <DeveloperApps developer={developer} />
        </Tabs.Panel>
        <Tabs.Panel value="requests">
          <DeveloperRequests developer={developer} />
        </Tabs.Panel>
        <Tabs.Panel value="details">
          <DeveloperDetails developer={developer} />
        </Tabs.Panel>
        <Tabs.Panel value="overview">
          <DeveloperOverview developer={developer} />
        </Tabs.Panel>
        {maySeeHistory && (
          <Tabs.Panel value="history">
            <History kind="developer" id={developer.id} />
          </Tabs.Panel>
        )}
      </Tabs>
    </>
  )
}

function hasSignedIn({ last_login_date }: Developer): boolean {
  return !last_login_date.startsWith('0001')
}

/** Who this is: only the fields that hold something. */
function Facts({ developer }: { readonly developer: Developer }) {
  const filled = Object.entries(developer.fields).filter(([, value]) => value.trim() !== '')
  const facts = [...filled, ...(developer.sso_key === '' ? [] : [[say('portal.ssoKey'), developer.sso_key] as const])]
  return (
    <Paper withBorder p="md" mb="lg">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="md" component="dl" m={0}>
        {facts.map(([name, value]) => (
          <Fact key={name} name={name}>
            <Text size="sm" className="wrap-anywhere" lineClamp={4} component="span">
              <bdi>{value}</bdi>
            </Text>
          </Fact>
        ))}
        <Fact name={say('portal.id')}>
          <CopyText value={developer.id} />
        </Fact>
      </SimpleGrid>
    </Paper>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <Stack gap={2} miw={0}>
      <Text size="xs" c="dimmed" component="dt" className="wrap-anywhere">
        <bdi>{name}</bdi>
      </Text>
      <Text size="sm" component="dd" m={0}>
        {children}
      </Text>
    </Stack>
  )
}

function More({ developer }: { readonly developer: Developer }) {
  const [asked, setAsked] = useState<'password' | 'delete'>()
  const close = () => setAsked(undefined)
  if (!useMay('portal', 'write')) return null
  return (
    <>
      <Menu position="bottom-end" withArrow>
        <Menu.Target>
          <Button variant="default" rightSection={<ChevronDownIcon size={16} aria-hidden />}>
            {say('portal.more')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<LockKeyholeIcon size={16} aria-hidden />} onClick={() => setAsked('password')}>
            {say('portal.setPassword')}
          </Menu.Item>
          <Menu.Item color="red" leftSection={<Trash2Icon size={16} aria-hidden />} onClick={() => setAsked('delete')}>
            {say('portal.deleteDeveloper')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <PasswordDialog developer={developer} opened={asked === 'password'} onClose={close} />
      <DeleteDeveloper developer={developer} opened={asked === 'delete'} onClose={close} />
    </>
  )
}
