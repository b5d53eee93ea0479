import { Anchor, Box, Breadcrumbs, Button, Group, Loader, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { FileUpIcon } from 'lucide-react'
import { type LazyExoticComponent, lazy, Suspense } from 'react'
import { type ApiSeen, apiKey, readApi, readUrl } from '../../api/apis.ts'
import { CallError } from '../../api/call.ts'
import { useMay } from '../../api/session.ts'
import { useAddress } from '../../app/address.ts'
import { CopyText } from '../../parts/copy.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FaultBox } from '../../parts/fault-box.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { say, type TextName } from '../../texts/say.ts'
import { methodOf } from './authentication.ts'
import { StateBadge } from './badges.tsx'

type Tab = LazyExoticComponent<(props: { readonly api: ApiSeen }) => React.ReactNode>

/** The tabs of an API; one with a permission is left out for who lacks it. */
const TABS: readonly { readonly name: string; readonly Tab: Tab; readonly permission?: string }[] = [
  { name: 'settings', Tab: lazy(() => import('./tabs/settings.tsx')) },
  { name: 'authentication', Tab: lazy(() => import('./tabs/authentication.tsx')) },
  { name: 'try', Tab: lazy(() => import('./tabs/try-it.tsx')) },
  { name: 'traffic', Tab: lazy(() => import('./tabs/traffic.tsx')), permission: 'analytics' },
  { name: 'keys', Tab: lazy(() => import('./tabs/keys.tsx')), permission: 'keys' },
  { name: 'clients', Tab: lazy(() => import('./tabs/clients.tsx')), permission: 'oauth' },
  { name: 'versions', Tab: lazy(() => import('./tabs/versions.tsx')) },
  { name: 'owners', Tab: lazy(() => import('./tabs/owners.tsx')) },
  { name: 'labels', Tab: lazy(() => import('./tabs/labels.tsx')) },
  { name: 'nodes', Tab: lazy(() => import('./tabs/nodes.tsx')) },
  { name: 'danger', Tab: lazy(() => import('./tabs/danger.tsx')) },
]

/** One API with everything about it. */
export default function OneApi() {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  const api = useQuery({ queryKey: apiKey(id), queryFn: ({ signal }) => readApi(id, signal) })
  if (api.data !== undefined) return <Page key={id} api={api.data} />
  if (api.error instanceof CallError && [400, 404].includes(api.error.status)) return <Gone />
  if (api.error !== null) return <FaultBox error={api.error} retry={() => void api.refetch()} />
  return <Loader role="status" aria-label={say('part.loading')} />
}

/** Stands where there is no such API, or none that the reader may know of. */
function Gone() {
  return (
    <>
      <PageHead title={say('apis.gone')} />
      <Empty title={say('apis.gone')} hint={say('apis.goneHint')}>
        <Button component={Link} to="/apis" variant="light">
          {say('apis.toList')}
        </Button>
      </Empty>
    </>
  )
}

function Page({ api }: { readonly api: ApiSeen }) {
  const [{ tab }, setAddress] = useAddress<'tab' | 'view'>(ABSENT_VIEW)
  const tabs = useShownTabs(api)
  const shown = tabs.find(({ name }) => name === tab) ?? tabs[0]!
  return (
    <>
      <Breadcrumbs mb={4}>
        <Anchor component={Link} to="/apis" size="sm">
          {say('shell.apis')}
        </Anchor>
      </Breadcrumbs>
      <PageHead title={api.name} hint={<Address api={api} />}>
        <StateBadge active={api.active} internal={api.internal} />
        {api.isOas && <ImportButton api={api} />}
      </PageHead>
      <Tabs value={shown.name} onChange={(next) => setAddress({ tab: next ?? '', view: '' })} keepMounted={false}>
        <Box style={{ overflowX: 'auto' }} mb="md">
          <Tabs.List style={{ flexWrap: 'nowrap' }} miw="max-content">
            {tabs.map(({ name }) => (
              <Tabs.Tab key={name} value={name}>
                {say(`apis.tab.${name}` as TextName)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Box>
        <Tabs.Panel value={shown.name}>
          <Suspense fallback={<Loader role="status" aria-label={say('part.loading')} />}>
            <shown.Tab api={api} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

const ABSENT_VIEW = { tab: 'settings', view: '' } as const

function useShownTabs(api: ApiSeen) {
  const may: Readonly<Record<string, boolean>> = {
    analytics: useMay('analytics'),
    keys: useMay('keys'),
    oauth: useMay('oauth'),
  }
  const method = methodOf(api.classic)
  return TABS.filter(({ name, permission }) => {
    if (permission !== undefined && may[permission] !== true) return false
    if (name === 'clients') return method === 'oauth'
    return name !== 'keys' || method !== 'keyless'
  })
}

function Address({ api }: { readonly api: ApiSeen }) {
  const url = useQuery({ queryKey: [...apiKey(api.id), 'url'], queryFn: ({ signal }) => readUrl(api.id, signal) })
  return (
    <Group gap="xs" mt={2}>
      <CopyText value={url.data ?? api.listenPath} />
    </Group>
  )
}

function ImportButton({ api }: { readonly api: ApiSeen }) {
  if (!useMay('apis', 'write')) return null
  return (
    <Button
      component={Link}
      to={`/apis/${encodeURIComponent(api.id)}/import` as '/'}
      variant="default"
      leftSection={<FileUpIcon size={16} aria-hidden />}
    >
      {say('apis.reimport')}
    </Button>
  )
}
