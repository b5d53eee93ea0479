import { Button, FileButton, Group, Progress, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { FileUpIcon } from 'lucide-react'
import { useRef, useState } from 'react'
import type { Source } from '../../../api/apis/apis.ts'
import { useAddress } from '../../../app/address.ts'
import { CodeEditor } from '../../../parts/editors/code-editor.tsx'
import type { Mark } from '../../../parts/editors/editor-props.ts'
import { jsonFault } from '../../../parts/editors/openapi-place.ts'
import { say } from '../../../texts/say.ts'

const ABSENT = { source: 'file' } as const
/** The dashboard takes no more; saying so before half of it is sent is kinder. */
const MOST_BYTES = 16_000_000
const MOST_YAML_BYTES = 2_000_000

interface Props {
  readonly onSource: (source: Source | undefined) => void
  readonly marks: readonly Mark[]
}

/** Where an OpenAPI document comes from: a file, an address, or what is pasted. */
export function OpenapiSource({ onSource, marks }: Props) {
  const [{ source }, setAddress] = useAddress<'source'>(ABSENT)
  const [text, setText] = useState('')
  const take = (next: string) => {
    setText(next)
    onSource(next.trim() === '' ? undefined : { text: next })
  }
  return (
    <Stack>
      <SegmentedControl
        value={source}
        onChange={(next) => {
          setAddress({ source: next })
          onSource(next === 'url' || text === '' ? undefined : { text })
        }}
        aria-label={say('apis.source')}
        w="fit-content"
        size="xs"
        data={[
          { value: 'file', label: say('apis.sourceFile') },
          { value: 'url', label: say('apis.sourceUrl') },
          { value: 'paste', label: say('apis.sourcePaste') },
        ]}
      />
      {source === 'url' && <FromUrl onSource={onSource} />}
      {source === 'file' && <FromFile onText={take} />}
      {source !== 'url' && (source === 'paste' || text !== '') && (
        <CodeEditor
          label={say('apis.document')}
          language={text === '' || isJson(text) ? 'json' : 'yaml'}
          value={text}
          onChange={take}
          marks={marks}
          height="26rem"
        />
      )}
    </Stack>
  )
}

/** A text that begins like JSON is read as JSON. */
export function isJson(text: string): boolean {
  return /^\s*[{[]/.test(text.slice(0, 1000))
}

/** The errors of a document before it is sent: broken JSON, at its line. */
export function sourceFault(source: Source | undefined): Mark | undefined {
  return source !== undefined && 'text' in source && isJson(source.text) ? jsonFault(source.text) : undefined
}

function FromUrl({ onSource }: Pick<Props, 'onSource'>) {
  return (
    <TextInput
      type="url"
      label={say('apis.url')}
      description={say('apis.urlHint')}
      placeholder="https://example.com/openapi.json"
      onChange={({ currentTarget: { value } }) =>
        onSource(/^https?:\/\/\S+$/i.test(value.trim()) ? { url: value.trim() } : undefined)
      }
    />
  )
}

function FromFile({ onText }: { readonly onText: (text: string) => void }) {
  const [name, setName] = useState('')
  const [refusal, setRefusal] = useState('')
  const [isReading, setReading] = useState(false)
  const reset = useRef<() => void>(null)
  const read = async (file: File | null) => {
    if (file === null) return
    const isYaml = /\.ya?ml$/i.test(file.name)
    setName(file.name)
    if (file.size > (isYaml ? MOST_YAML_BYTES : MOST_BYTES)) {
      setRefusal(say(isYaml ? 'apis.yamlTooLarge' : 'apis.fileTooLarge'))
      return
    }
    setRefusal('')
    setReading(true)
    try {
      onText(await file.text())
    } catch {
      setRefusal(say('apis.fileUnreadable'))
    }
    setReading(false)
    // The same file may be chosen again, once it is mended.
    reset.current?.()
  }
  return (
    <Stack
      gap="xs"
      p="lg"
      align="center"
      style={{ border: '1px dashed var(--mantine-color-default-border)', borderRadius: 'var(--mantine-radius-md)' }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        void read(event.dataTransfer.files.item(0))
      }}
    >
      <Group>
        <FileButton
          resetRef={reset}
          onChange={(file) => void read(file)}
          accept=".json,.yaml,.yml,application/json,application/yaml"
        >
          {(button) => (
            <Button {...button} variant="light" leftSection={<FileUpIcon size={16} aria-hidden />}>
              {say('apis.chooseFile')}
            </Button>
          )}
        </FileButton>
      </Group>
      <Text size="sm" c="dimmed" className="wrap-anywhere" ta="center">
        {name === '' ? say('apis.dropFile') : name}
      </Text>
      {isReading && <Progress value={100} animated w="100%" aria-label={say('part.loading')} />}
      {refusal !== '' && (
        <Text size="sm" c="red" role="alert">
          {refusal}
        </Text>
      )}
    </Stack>
  )
}
