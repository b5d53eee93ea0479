import { Button, Card, Grid, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ChartLineIcon, GaugeIcon } from 'lucide-react'
import { useState } from 'react'
import { KEYS_KEY, type KeyDetails, type KeySession, readKey, resetKeyQuota, saveKey } from '../../api/access/keys.ts'
import { useMay } from '../../api/people/session.ts'
import { useAddress } from '../../app/address.ts'
import { notifyDone, notifyFault } from '../../parts/display/notify.ts'
import { ObjectTabs } from '../../parts/display/object-tabs.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { QuotaGauge } from '../../parts/display/quota-gauge.tsx'
import { SecretOnce } from '../../parts/display/secret-once.tsx'
import { Guarded, GuardedButton } from '../../parts/forms/guarded.tsx'
import { GuardedForm } from '../../parts/forms/guarded-form.tsx'
import { History } from '../../parts/history/history.tsx'
import { NotReadable } from '../../parts/tables/not-readable.tsx'
import { RightsTable, rateText } from '../../parts/tables/rights-table.tsx'
import { say } from '../../texts/say.ts'
import { KeyActions } from './key-actions.tsx'
import { KeyFactsCard } from './key-facts.tsx'
import { keyFields } from './key-fields.tsx'
import { hasQuotaPerApi, nameOfKey } from './key-labels.ts'
import { KeyOverview } from './key-overview.tsx'
import { withoutSecrets, withProofs } from './key-proofs.ts'
import { KeyState } from './key-table.tsx'
import { sessionOf, valuesOf } from './key-values.ts'

const ABSENT = { edit: '' } as const

/** One key. */
export default function Key() {
  const { hash = '' } = useParams({ strict: false }) as { hash?: string }
  return (
    <Guarded permission="keys" title={say('keys.title')}>
      <Loaded key={hash} hash={hash} />
    </Guarded>
  )
}

const keyOf = (hash: string) => [...KEYS_KEY, 'one', hash] as const

function Loaded({ hash }: { readonly hash: string }) {
  const [{ edit }, set] = useAddress(ABSENT)
  const mayWrite = useMay('keys', 'write')
  const maySeeHistory = useMay('audit_logs')
  const { data, error, refetch } = useQuery({
    queryKey: keyOf(hash),
    queryFn: ({ signal }) => readKey(hash, signal),
  })
  // A later failed attempt keeps the page: the user may be typing.
  if (data === undefined)
    return error === null ? (
      <PageHead title={say('keys.name')} />
    ) : (
      <NotReadable error={error} retry={refetch} title={say('keys.gone')} to="/keys" />
    )
  const name = nameOfKey(data)
  const close = () => set({ edit: '' })
  if (edit === 'yes' && mayWrite)
    return (
      <>
        <PageHead title={say('keys.editTitle', { name })} />
        <Edit details={data} onClose={close} />
      </>
    )
  return (
    <>
      <PageHead title={name} hint={<KeyState entry={data} />}>
        <KeyActions details={data} onEdit={() => set({ edit: 'yes' })} />
      </PageHead>
      <ObjectTabs
        tabs={[
          { name: 'access', label: say('keys.accessTab'), panel: <Access details={data} /> },
          { name: 'overview', label: say('overview.title'), panel: <KeyOverview details={data} /> },
          {
            name: 'history',
            label: say('history.title'),
            panel: <History kind="session" id={hash} />,
            isHidden: !maySeeHistory,
          },
        ]}
      />
    </>
  )
}

function Access({ details }: { readonly details: KeyDetails }) {
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Stack>
          <Applied details={details} />
          <KeyFactsCard details={details} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <Limits details={details} />
      </Grid.Col>
    </Grid>
  )
}

function Applied({ details: { data } }: { readonly details: KeyDetails }) {
  return (
    <Card withBorder component="section" padding="lg">
      <Title order={2} size="h4">
        {say('keys.applied')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {say('keys.appliedHint')}
      </Text>
      <RightsTable rights={data.access_rights ?? {}} label={say('keys.applied')} />
    </Card>
  )
}

function Limits({ details: { data, key_hash: hash } }: { readonly details: KeyDetails }) {
  const client = useQueryClient()
  const maySeeTraffic = useMay('analytics')
  const isPerApi = hasQuotaPerApi(data)
  const resetting = useMutation({
    mutationFn: () => resetKeyQuota(hash),
    onSuccess: () => {
      notifyDone(say('keys.quotaResetDone'))
      return client.invalidateQueries({ queryKey: KEYS_KEY })
    },
    onError: notifyFault,
  })
  return (
    <Card withBorder component="section" padding="lg">
      <Stack gap="sm" align="stretch">
        <Title order={2} size="h4">
          {say('keys.limits')}
        </Title>
        <Text size="sm">
          {say('keys.rateShort')}: {rateText(data)}
        </Text>
        {isPerApi ? (
          <Text size="sm">
            {say('keys.quota')}: {say('keys.perApi')}
          </Text>
        ) : (
          <QuotaGauge limits={data} />
        )}
        {((data.quota_max ?? 0) > 0 || isPerApi) && (
          <GuardedButton
            permission="keys"
            variant="default"
            size="xs"
            leftSection={<GaugeIcon size={16} aria-hidden />}
            loading={resetting.isPending}
            onClick={() => resetting.mutate()}
          >
            {say('keys.resetQuota')}
          </GuardedButton>
        )}
        {maySeeTraffic && (
          <Button
            component={Link}
            to="/analytics"
            search={{ key: hash, range: '7d' } as never}
            variant="default"
            size="xs"
            leftSection={<ChartLineIcon size={16} aria-hidden />}
          >
            {say('keys.traffic')}
          </Button>
        )}
      </Stack>
    </Card>
  )
}

function Edit({ details, onClose }: { readonly details: KeyDetails; readonly onClose: () => void }) {
  const client = useQueryClient()
  const [secret, setSecret] = useState<string>()
  const { key_hash: hash, own } = details
  return (
    <Paper withBorder p="lg" maw={820}>
      <GuardedForm<KeySession>
        fields={keyFields(own)}
        object={{ kind: 'session', id: hash }}
        stored={own}
        valuesOf={valuesOf}
        changed={(values, loaded) => withProofs(sessionOf(values, loaded), values, loaded)}
        edited={withoutSecrets}
        read={async () => (await readKey(hash)).own}
        write={(session) => saveKey(hash, session)}
        onDone={(stored) => {
          void client.invalidateQueries({ queryKey: KEYS_KEY })
          const isNew = stored.hmac_enabled === true && stored.hmac_string !== own.hmac_string
          if (isNew) setSecret(stored.hmac_string)
          else onClose()
        }}
        onCancel={onClose}
      />
      <SecretOnce
        title={say('keys.secretNew')}
        secrets={secret === undefined ? undefined : [{ name: say('keys.secret'), value: secret }]}
        onDone={onClose}
      >
        <Text size="sm">{say('keys.secretNewHint')}</Text>
      </SecretOnce>
    </Paper>
  )
}
