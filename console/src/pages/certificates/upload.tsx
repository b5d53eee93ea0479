import { Button, FileButton, Group, Modal, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { UploadIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import { addCertificate, CERTIFICATES_KEY } from '../../api/platform/certificates.ts'
import { notifyFault } from '../../parts/display/notify.ts'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'

const MOST_BYTES = 256 * 1024

/** Opens the dialog, for those who may upload. */
export function UploadButton({ onClick }: { readonly onClick: () => void }) {
  if (!useMay('certs', 'write')) return null
  return (
    <Button leftSection={<UploadIcon size={16} aria-hidden />} onClick={onClick}>
      {say('certificates.upload')}
    </Button>
  )
}

/** Uploads a certificate: as text, or from files that are put together. */
export function UploadDialog({ opened, onClose }: { readonly opened: boolean; readonly onClose: () => void }) {
  const client = useQueryClient()
  const may = useMay('certs', 'write')
  return (
    <Modal opened={may && opened} onClose={onClose} title={say('certificates.upload')} size="lg">
      <RecordForm
        fields={[
          {
            name: 'pem',
            label: say('certificates.pem'),
            hint: say('certificates.pemHint'),
            kind: 'area',
            rows: 10,
            required: true,
            placeholder: '-----BEGIN CERTIFICATE-----',
          },
          {
            name: 'files',
            label: say('certificates.file'),
            kind: 'part',
            draw: (form) => <Files onText={(text) => form.setFieldValue('pem', text)} />,
          },
        ]}
        initial={{ pem: '', files: '' }}
        verb={say('certificates.upload')}
        done={say('certificates.added')}
        submit={({ pem }) => addCertificate(String(pem))}
        onDone={async () => {
          onClose()
          await client.invalidateQueries({ queryKey: CERTIFICATES_KEY })
        }}
        onCancel={onClose}
      />
    </Modal>
  )
}

function Files({ onText }: { readonly onText: (text: string) => void }) {
  const read = async (files: readonly File[]) => {
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    if (bytes > MOST_BYTES) return notifyFault(new Error(say('certificates.tooLarge')))
    const texts = await Promise.all(files.map((file) => file.text()))
    onText(texts.join('\n'))
  }
  return (
    <Group gap="sm">
      <FileButton multiple accept=".pem,.crt,.cer,.key" onChange={(files) => void read(files)}>
        {(props) => (
          <Button {...props} size="xs" variant="default">
            {say('certificates.choose')}
          </Button>
        )}
      </FileButton>
      <Text size="xs" c="dimmed">
        {say('certificates.fileHint')}
      </Text>
    </Group>
  )
}
