import { Button, Card, Grid, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ChartLineIcon, GaugeIcon } from 'lucide-react'
import { KEYS_KEY, type KeySession, type KeyTold, readKey, resetKeyQuota, saveKey } from '../../api/keys.ts'
import { useMay } from '../../api/session.ts'
import { useAddress } from '../../app/address.ts'
import { useGuardedSave } from '../../parts/conflict.tsx'
import { FaultBox } from '../../parts/fault-box.tsx'
import { Guarded, GuardedButton } from '../../parts/guarded.tsx'
import { notifyDone, notifyFault } from '../../parts/notify.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { QuotaGauge } from '../../parts/quota-gauge.tsx'
import { RecordForm } from '../../parts/record-form.tsx'
import { RightsTable, rateText } from '../../parts/rights-table.tsx'
import { say } from '../../texts/say.ts'
import { KeyActions } from './key-actions.tsx'
import { KeyFactsCard } from './key-facts.tsx'
import { keyFields } from './key-fields.tsx'
import { KeyState } from './key-table.tsx'
import { sessionOf, valuesOf } from './key-values.ts'
import { hasQuotaPerApi, nameOfKey } from './key-words.ts'

const ABSENT = { edit: '' } as const

/** One key. */
export default function Key() {
  const { hash = '' } = useParams({ strict: false }) as { hash?: string }
  return (
    <Guarded permission="keys">
      <Loaded key={hash} hash={hash} />
    </Guarded>
  )
}

const keyOf = (hash: string) => [...KEYS_KEY, 'one', hash] as const

function Loaded({ hash }: { readonly hash: string }) {
  const [{ edit }, set] = useAddress(ABSENT)
  const mayWrite = useMay('keys', 'write')
  const { data, error, refetch } = useQuery({
    queryKey: keyOf(hash),
    queryFn: ({ signal }) => readKey(hash, signal),
  })
  if (error !== null)
    return (
      <>
        <PageHead title={say('keys.title')} />
        <FaultBox error={error} retry={() => void refetch()} />
      </>
    )
  if (data === undefined) return <PageHead title={say('keys.name')} />
  const name = nameOfKey(data)
  const close = () => set({ edit: '' })
  if (edit === 'yes' && mayWrite)
    return (
      <>
        <PageHead title={say('keys.editTitle', { name })} />
        <Edit told={data} onClose={close} />
      </>
    )
  return (
    <>
      <PageHead title={name} hint={<KeyState entry={data} />}>
        <KeyActions told={data} onEdit={() => set({ edit: 'yes' })} />
      </PageHead>
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack>
            <Applied told={data} />
            <KeyFactsCard told={data} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Limits told={data} />
        </Grid.Col>
      </Grid>
    </>
  )
}

function Applied({ told: { data } }: { readonly told: KeyTold }) {
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

function Limits({ told: { data, key_hash: hash } }: { readonly told: KeyTold }) {
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

function Edit({ told, onClose }: { readonly told: KeyTold; readonly onClose: () => void }) {
  const client = useQueryClient()
  const { save, dialog } = useGuardedSave()
  const { key_hash: hash, own } = told
  return (
    <Paper withBorder p="lg" maw={820}>
      {dialog}
      <RecordForm
        guarded
        fields={keyFields(own)}
        initial={valuesOf(own)}
        submit={(values) =>
          save<KeySession>({
            loaded: own,
            mine: sessionOf(values, own),
            read: async () => (await readKey(hash)).own,
            write: (session) => saveKey(hash, session),
          })
        }
        onDone={() => {
          void client.invalidateQueries({ queryKey: KEYS_KEY })
          onClose()
        }}
        onCancel={onClose}
      />
    </Paper>
  )
}
