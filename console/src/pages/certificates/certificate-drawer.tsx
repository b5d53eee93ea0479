import { Anchor, Badge, Button, Drawer, Group, List, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/people/session.ts'
import {
  CERTIFICATES_KEY,
  type Certificate,
  type CertificateUse,
  deleteCertificate,
  unlinkCertificate,
} from '../../api/platform/certificates.ts'
import { CopyText } from '../../parts/display/copy.tsx'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { notifyDone } from '../../parts/display/notify.ts'
import { fullTime } from '../../parts/display/when.tsx'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { say } from '../../texts/say.ts'
import { Fact } from '../users/side-cards.tsx'
import { certificateName, endingOf } from './names.ts'
import { useUses } from './uses.ts'

/** The details of one certificate, its uses, and its deletion. */
export function CertificateDrawer(props: {
  readonly certificate: Certificate | undefined
  readonly onClose: () => void
}) {
  const { certificate } = props
  return (
    <Drawer
      opened={certificate !== undefined}
      onClose={props.onClose}
      position="right"
      size="lg"
      title={certificate && certificateName(certificate)}
      closeButtonProps={{ 'aria-label': say('part.close') }}
    >
      {certificate !== undefined && <Details certificate={certificate} onGone={props.onClose} />}
    </Drawer>
  )
}

function Details({ certificate, onGone }: { readonly certificate: Certificate; readonly onGone: () => void }) {
  const uses = useUses(certificate.id)
  const [now] = useState(Date.now)
  const { text, color, isGrave } = endingOf(certificate, now)
  return (
    <Stack>
      <Group gap="xs">
        <Badge variant={isGrave ? 'filled' : 'light'} color={color} tt="none">
          {text}
        </Badge>
        <Badge variant="default" tt="none">
          {say(certificate.has_private ? 'certificates.private' : 'certificates.public')}
        </Badge>
      </Group>
      <Fact name={say('certificates.subject')}>{certificate.subject.replaceAll('\n', ', ')}</Fact>
      <Fact name={say('certificates.domains')}>{certificate.dns_names.join(', ') || '–'}</Fact>
      <Fact name={say('certificates.issuerName')}>{certificate.issuer.replaceAll('\n', ', ')}</Fact>
      <Fact name={say('certificates.from')}>{fullTime(certificate.not_before)}</Fact>
      <Fact name={say('certificates.until')}>{fullTime(certificate.not_after)}</Fact>
      <Fact name={say('certificates.id')}>
        <CopyText value={certificate.id} />
      </Fact>
      <Fact name={say('certificates.usedBy')}>
        <FaultBox error={uses.error} />
        {uses.data !== undefined && <Uses uses={uses.data} />}
      </Fact>
      <Removal certificate={certificate} uses={uses.data ?? []} onGone={onGone} />
    </Stack>
  )
}

function Uses({ uses }: { readonly uses: readonly CertificateUse[] }) {
  if (uses.length === 0) return <>{say('certificates.unused')}</>
  return (
    <List size="sm">
      {uses.map(({ api_id: id, name, usage_types: types }) => (
        <List.Item key={id}>
          <Anchor component={Link} to={`/apis/${encodeURIComponent(id)}`} size="sm" dir="auto">
            {name || id}
          </Anchor>{' '}
          <Text span size="xs" c="dimmed">
            {types.join(', ')}
          </Text>
        </List.Item>
      ))}
    </List>
  )
}

function Removal(props: {
  readonly certificate: Certificate
  readonly uses: readonly CertificateUse[]
  readonly onGone: () => void
}) {
  const { certificate, uses } = props
  const [asked, setAsked] = useState(false)
  const client = useQueryClient()
  if (!useMay('certs', 'write')) return null
  const name = certificateName(certificate)
  return (
    <>
      <Group>
        <Button
          color="red"
          variant="light"
          leftSection={<Trash2Icon size={16} aria-hidden />}
          onClick={() => setAsked(true)}
        >
          {say('certificates.delete', { name })}
        </Button>
      </Group>
      <ConfirmDelete
        name={asked ? name : undefined}
        depends={uses.length === 0 ? say('certificates.deleteFree') : <InUse certificate={certificate} uses={uses} />}
        run={() => deleteCertificate(certificate.id)}
        onClose={() => setAsked(false)}
        onDone={async () => {
          setAsked(false)
          props.onGone()
          // Who uses it is nobody's question any more.
          await client.invalidateQueries({ queryKey: [...CERTIFICATES_KEY, 'list'] })
        }}
      />
    </>
  )
}

/** Who would miss it, and taking it out there. */
function InUse({ certificate, uses }: { readonly certificate: Certificate; readonly uses: readonly CertificateUse[] }) {
  const client = useQueryClient()
  const unlinking = useMutation({
    mutationFn: () => unlinkCertificate(certificate.id),
    onSuccess: async () => {
      notifyDone(say('certificates.unlinked'))
      await client.invalidateQueries({ queryKey: CERTIFICATES_KEY })
    },
  })
  return (
    <Stack gap="xs">
      {say('certificates.deleteUsed')}
      <Uses uses={uses} />
      <FaultBox error={unlinking.error} />
      <Group>
        <Button size="xs" variant="default" loading={unlinking.isPending} onClick={() => unlinking.mutate()}>
          {say('certificates.unlink')}
        </Button>
      </Group>
    </Stack>
  )
}
