import { ActionIcon, Button, Group, Input, Stack, TextInput } from '@mantine/core'
import { PlusIcon, XIcon } from 'lucide-react'
import type { Field, FormValue } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'

/** A form holds texts by name as one list: name, text, name, text. */
export function pairsOf(texts: Readonly<Record<string, string>>, asked: readonly string[] = []): string[] {
  const names = [...new Set([...asked, ...Object.keys(texts)])]
  return names.flatMap((name) => [name, Object.hasOwn(texts, name) ? texts[name]! : ''])
}

/** The texts by name; what has no text is left out. */
export function textsOf(pairs: FormValue | undefined): Record<string, string> {
  return Object.fromEntries(rowsOf(pairs as readonly string[]).filter(([name, text]) => name !== '' && text !== ''))
}

/** A field of a form for texts by name. */
export function pairsField(name: string, label: string, hint: string): Field {
  return {
    kind: 'part',
    name,
    label,
    check: checkPairs,
    draw: (form, readOnly) => {
      const { value, onChange, error } = form.getInputProps(name)
      return (
        <Input.Wrapper label={label} description={hint} error={error} labelElement="div">
          <PairsInput value={value} onChange={onChange} readOnly={readOnly} />
        </Input.Wrapper>
      )
    },
  }
}

function rowsOf(pairs: readonly string[]): (readonly [string, string])[] {
  return pairs.flatMap((name, at) => (at % 2 === 0 ? [[name.trim(), pairs[at + 1] ?? ''] as const] : []))
}

function checkPairs(value: FormValue): string | undefined {
  const rows = rowsOf(value as readonly string[])
  if (rows.some(([name, text]) => name === '' && text !== '')) return say('portal.nameEmpty')
  return new Set(rows.map(([name]) => name)).size < rows.length ? say('portal.nameTwice') : undefined
}

function PairsInput(props: {
  readonly value: readonly string[]
  readonly onChange: (pairs: string[]) => void
  readonly readOnly: boolean
}) {
  const { value, onChange, readOnly } = props
  const rows = rowsOf(value)
  return (
    <Stack gap="xs" mt={6}>
      {rows.map(([name, text], row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified by their index alone while names are typed
        <Group key={row} gap={4} wrap="nowrap">
          <TextInput
            flex={1}
            miw={0}
            aria-label={say('portal.pairName', { at: row + 1 })}
            placeholder={say('portal.pairNameHint')}
            value={name}
            maxLength={128}
            disabled={readOnly}
            dir="auto"
            onChange={({ currentTarget }) => onChange(value.toSpliced(row * 2, 1, currentTarget.value))}
          />
          <TextInput
            flex={2}
            miw={0}
            aria-label={say('portal.pairValue', { name: name || row + 1 })}
            value={text}
            maxLength={4096}
            disabled={readOnly}
            dir="auto"
            onChange={({ currentTarget }) => onChange(value.toSpliced(row * 2 + 1, 1, currentTarget.value))}
          />
          {!readOnly && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={say('portal.removeName', { name: name || row + 1 })}
              onClick={() => onChange(value.toSpliced(row * 2, 2))}
            >
              <XIcon size={16} aria-hidden />
            </ActionIcon>
          )}
        </Group>
      ))}
      {!readOnly && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<PlusIcon size={14} aria-hidden />}
            onClick={() => onChange([...value, '', ''])}
          >
            {say('portal.addField')}
          </Button>
        </Group>
      )}
    </Stack>
  )
}
