import { Anchor, Badge, Group, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { FileBadgeIcon } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { CERTIFICATES_KEY, type Certificate, listCertificates } from '../../api/platform/certificates.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { When } from '../../parts/display/when.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import type { Column } from '../../parts/tables/data-table.tsx'
import { PagedTable } from '../../parts/tables/paged-table.tsx'
import { say } from '../../texts/say.ts'
import { CertificateDrawer } from './certificate-drawer.tsx'
import { certificateName, commonName, endingOf } from './names.ts'
import { UploadButton, UploadDialog } from './upload.tsx'
import { useUses } from './uses.ts'

const ABSENT = { p: '1', id: '', new: '' } as const

/** Stored certificates, and when they end. */
export default function Certificates() {
  const [words, set] = useAddress(ABSENT)
  const upload = <UploadButton onClick={() => set({ new: '1' })} />
  return (
    <>
      <PageHead title={say('certificates.title')} hint={say('certificates.hint')}>
        {upload}
      </PageHead>
      <Guarded permission="certs">
        <List upload={upload} />
        <UploadDialog opened={words.new === '1'} onClose={() => set({ new: '' })} />
      </Guarded>
    </>
  )
}

function List({ upload }: { readonly upload: ReactNode }) {
  const [{ p, id }, set] = useAddress(ABSENT)
  const page = Number(p) || 1
  const [now] = useState(Date.now)
  const certificates = useQuery({
    queryKey: [...CERTIFICATES_KEY, 'list', page],
    queryFn: ({ signal }) => listCertificates(page, signal),
    placeholderData: keepPreviousData,
  })
  const rows = certificates.data?.certificates
  return (
    <>
      <PagedTable
        label={say('certificates.title')}
        columns={columns(now, (one) => set({ id: one.id }))}
        rows={rows}
        rowKey={(one) => one.id}
        source={certificates}
        page={page}
        pages={certificates.data?.pages}
        onPage={(next) => set({ p: String(next) })}
        empty={
          <Empty icon={FileBadgeIcon} title={say('certificates.empty')} hint={say('certificates.emptyHint')}>
            {upload}
          </Empty>
        }
      />
      <CertificateDrawer certificate={rows?.find((one) => one.id === id)} onClose={() => set({ id: '' })} />
    </>
  )
}

function columns(now: number, open: (certificate: Certificate) => void): readonly Column<Certificate>[] {
  return [
    {
      name: 'name',
      title: say('certificates.subject'),
      cell: (certificate) => (
        <>
          <Anchor component="button" type="button" fw={550} size="sm" ta="start" onClick={() => open(certificate)}>
            {certificateName(certificate)}
          </Anchor>
          <Text size="xs" c="dimmed">
            {say('certificates.issuer', { name: commonName(certificate.issuer) })}
          </Text>
        </>
      ),
    },
    {
      name: 'kind',
      title: say('certificates.holds'),
      wideOnly: true,
      cell: (certificate) => <Kinds {...certificate} />,
    },
    {
      name: 'used',
      title: say('certificates.usedBy'),
      wideOnly: true,
      cell: ({ id }) => <UsedBy id={id} />,
    },
    {
      name: 'ends',
      title: say('certificates.ends'),
      cell: (certificate) => {
        const { text, color, isGrave } = endingOf(certificate, now)
        return (
          <>
            <Badge variant={isGrave ? 'filled' : 'light'} color={color} tt="none">
              {text}
            </Badge>
            <Text size="xs" c="dimmed" component="div">
              <When at={certificate.not_after} />
            </Text>
          </>
        )
      },
    },
  ]
}

function Kinds({ has_private: isPrivate, is_ca: isAuthority }: Certificate) {
  return (
    <Group gap={4}>
      <Badge variant="default" tt="none">
        {say(isPrivate ? 'certificates.private' : 'certificates.public')}
      </Badge>
      {isAuthority && (
        <Badge variant="light" tt="none">
          {say('certificates.authority')}
        </Badge>
      )}
    </Group>
  )
}

function UsedBy({ id }: { readonly id: string }) {
  const uses = useUses(id).data
  if (uses === undefined) return null
  if (uses.length === 0)
    return (
      <Text span size="sm" c="dimmed">
        {say('certificates.unused')}
      </Text>
    )
  return (
    <Text span size="sm" lineClamp={2} dir="auto">
      {uses.map(({ name }) => name).join(', ')}
    </Text>
  )
}
