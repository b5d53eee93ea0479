import { Anchor, Box, Breadcrumbs, Button, Group, Loader, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { FileUpIcon } from 'lucide-react'
import { type LazyExoticComponent, lazy, Suspense } from 'react'
import { type ApiView, apiKey, readApi, readUrls, readWarnings } from '../../../api/apis/apis.ts'
import { useMay } from '../../../api/people/session.ts'
import { useAddress } from '../../../app/address.ts'
import { CopyText } from '../../../parts/display/copy.tsx'
import { PageHead } from '../../../parts/display/page-head.tsx'
import { Guarded } from '../../../parts/forms/guarded.tsx'
import { NotReadable } from '../../../parts/tables/not-readable.tsx'
import { say, type TextName } from '../../../texts/say.ts'
import { methodOf, proofsOf } from '../authentication/authentication-methods.ts'
import { StateBadge } from '../list/badges.tsx'
import { DefinitionWarnings } from './definition-warnings.tsx'

type Tab = LazyExoticComponent<(props: { readonly api: ApiView }) => React.ReactNode>

/** The tabs of an API; one with a permission is left out for who lacks it. */
const TABS: readonly { readonly name: string; readonly Tab: Tab; readonly permission?: string }[] = [
  { name: 'overview', Tab: lazy(() => import('../tabs/overview.tsx')) },
  { name: 'settings', Tab: lazy(() => import('../tabs/settings.tsx')) },
  { name: 'authentication', Tab: lazy(() => import('../tabs/authentication.tsx')) },
  { name: 'try', Tab: lazy(() => import('../tabs/try-it.tsx')) },
  { name: 'traffic', Tab: lazy(() => import('../tabs/traffic.tsx')), permission: 'analytics' },
  { name: 'keys', Tab: lazy(() => import('../tabs/keys.tsx')), permission: 'keys' },
  { name: 'clients', Tab: lazy(() => import('../tabs/clients.tsx')), permission: 'oauth' },
  { name: 'versions', Tab: lazy(() => import('../tabs/versions.tsx')) },
  { name: 'owners', Tab: lazy(() => import('../tabs/owners.tsx')) },
  { name: 'labels', Tab: lazy(() => import('../tabs/labels.tsx')) },
  { name: 'webhooks', Tab: lazy(() => import('../tabs/webhooks.tsx')) },
  { name: 'nodes', Tab: lazy(() => import('../tabs/nodes.tsx')) },
  { name: 'history', Tab: lazy(() => import('../tabs/history.tsx')), permission: 'audit_logs' },
  { name: 'danger', Tab: lazy(() => import('../tabs/danger.tsx')) },
]

/** One API with everything about it. */
export default function OneApi() {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  return (
    <Guarded permission="apis" title={say('shell.apis')}>
      <Loaded key={id} id={id} />
    </Guarded>
  )
}

function Loaded({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({ queryKey: apiKey(id), queryFn: ({ signal }) => readApi(id, signal) })
  if (data !== undefined) return <Page api={data} />
  if (error !== null) return <NotReadable error={error} retry={refetch} title={say('apis.gone')} to="/apis" />
  return <Loader role="status" aria-label={say('part.loading')} />
}

function Page({ api }: { readonly api: ApiView }) {
  const [{ tab }, setAddress] = useAddress<'tab' | 'view'>(ABSENT_VIEW)
  const tabs = useShownTabs(api)
  const shown = tabs.find(({ name }) => name === tab) ?? tabs.find(({ name }) => name === 'settings')!
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
      <Warned api={api} />
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

function useShownTabs(api: ApiView) {
  const may: Readonly<Record<string, boolean>> = {
    analytics: useMay('analytics'),
    keys: useMay('keys'),
    oauth: useMay('oauth'),
    audit_logs: useMay('audit_logs'),
  }
  const method = methodOf(api.classic)
  const proofs = proofsOf(api.classic)
  return TABS.filter(({ name, permission }) => {
    if (permission !== undefined && may[permission] !== true) return false
    if (name === 'clients') return proofs.includes('oauth')
    return name !== 'keys' || method !== 'keyless'
  })
}

function Warned({ api }: { readonly api: ApiView }) {
  const { data = [] } = useQuery({
    queryKey: [...apiKey(api.id), 'warnings', api.updatedAt],
    queryFn: ({ signal }) => readWarnings(api.id, signal),
  })
  return (
    <Box mb={data.length === 0 ? 0 : 'md'}>
      <DefinitionWarnings warnings={data} />
    </Box>
  )
}

function Address({ api }: { readonly api: ApiView }) {
  const { data } = useQuery({
    queryKey: [...apiKey(api.id), 'urls'],
    queryFn: ({ signal }) => readUrls(api.id, signal),
  })
  const urls = data === undefined || data.length === 0 ? [api.listenPath] : data
  return (
    <Group gap="xs" mt={2}>
      {urls.map((url) => (
        <CopyText key={url} value={url} />
      ))}
      {data?.length === 0 && (
        <Text size="sm" c="dimmed">
          {say('apis.noGateway')}
        </Text>
      )}
    </Group>
  )
}

function ImportButton({ api }: { readonly api: ApiView }) {
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
