import { Badge, Button, Code, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { FileKeyIcon } from 'lucide-react'
import { useState } from 'react'
import { useIsAdministrator } from '../../api/people/session.ts'
import {
  listSigningKeys,
  retireSigningKey,
  rotateSigningKeys,
  SIGNING_KEYS_KEY,
  type SigningKey,
} from '../../api/platform/signing-keys.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { notifyDone } from '../../parts/display/notify.ts'
import { PageHead } from '../../parts/display/page-head.tsx'
import { When } from '../../parts/display/when.tsx'
import { ConfirmAction } from '../../parts/forms/confirm-action.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'

/** The keys that JWT access tokens are signed with: their state, rotation, and retirement after a compromise. */
export default function SigningKeys() {
  return (
    <Guarded permission="oauth" title={say('signingKeys.title')}>
      <SigningKeysPage />
    </Guarded>
  )
}

function SigningKeysPage() {
  const client = useQueryClient()
  const mayChange = useIsAdministrator()
  const [isRotating, setRotating] = useState(false)
  const [retiring, setRetiring] = useState<SigningKey>()
  const keys = useQuery({ queryKey: SIGNING_KEYS_KEY, queryFn: ({ signal }) => listSigningKeys(signal) })
  const done = (text: string) => {
    setRotating(false)
    setRetiring(undefined)
    notifyDone(text)
    void client.invalidateQueries({ queryKey: SIGNING_KEYS_KEY })
  }
  const hasKeys = keys.data !== undefined && keys.data.length > 0
  return (
    <>
      <PageHead title={say('signingKeys.title')} hint={say('signingKeys.hint')}>
        {mayChange && hasKeys && <Button onClick={() => setRotating(true)}>{say('signingKeys.rotate')}</Button>}
      </PageHead>
      <DataTable
        label={say('signingKeys.title')}
        columns={mayChange ? [...COLUMNS, retireColumn(setRetiring)] : COLUMNS}
        rows={keys.data}
        rowKey={({ kid }) => kid}
        error={keys.error}
        retry={() => void keys.refetch()}
        empty={<Empty icon={FileKeyIcon} title={say('signingKeys.empty')} hint={say('signingKeys.emptyHint')} />}
      />
      <ConfirmAction
        opened={isRotating}
        title={say('signingKeys.rotateTitle')}
        verb={say('signingKeys.rotate')}
        run={rotateSigningKeys}
        onDone={() => done(say('signingKeys.rotated'))}
        onClose={() => setRotating(false)}
      >
        {say('signingKeys.rotateText')}
      </ConfirmAction>
      <ConfirmAction
        isGrave
        opened={retiring !== undefined}
        title={say('signingKeys.retireTitle')}
        verb={say('signingKeys.retire')}
        run={() => retireSigningKey(retiring!.kid)}
        onDone={() => done(say('signingKeys.retiredDone'))}
        onClose={() => setRetiring(undefined)}
      >
        <Code className="wrap-anywhere">{retiring?.kid}</Code>
        <Text size="sm" mt="xs">
          {say('signingKeys.retireText')}
        </Text>
      </ConfirmAction>
    </>
  )
}

const COLORS = { next: 'blue', current: 'teal', previous: 'gray', retired: 'red' } as const

const COLUMNS: readonly Column<SigningKey>[] = [
  {
    name: 'state',
    title: say('signingKeys.state'),
    cell: (key) => (
      <>
        <Badge variant="light" color={COLORS[key.state]} c="var(--mantine-color-text)" tt="none">
          {say(`signingKeys.${key.state}`)}
        </Badge>
        <Text size="xs" c="dimmed" component="div">
          <Since signingKey={key} />
        </Text>
      </>
    ),
  },
  {
    name: 'kid',
    title: say('signingKeys.kid'),
    cell: ({ kid }) => <Code className="wrap-anywhere">{kid}</Code>,
  },
  { name: 'alg', title: say('signingKeys.alg'), cell: ({ alg }) => alg },
  { name: 'created', title: say('signingKeys.created'), wideOnly: true, cell: (key) => <When at={key.date_created} /> },
]

function Since({
  signingKey: { state, signs_from, published_until, retired_at },
}: {
  readonly signingKey: SigningKey
}) {
  const at = { next: signs_from, current: signs_from, previous: published_until, retired: retired_at }[state]
  return (
    <>
      {say(`signingKeys.${state}Since`)} <When at={at} />
    </>
  )
}

function retireColumn(retire: (key: SigningKey) => void): Column<SigningKey> {
  return {
    name: 'retire',
    title: say('part.actions'),
    cell: (key) =>
      key.state !== 'retired' && (
        <Button
          size="compact-sm"
          variant="light"
          color="red"
          aria-label={say('signingKeys.retireOne', { kid: key.kid })}
          onClick={() => retire(key)}
        >
          {say('signingKeys.retire')}
        </Button>
      ),
  }
}
