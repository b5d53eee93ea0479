import { Button, Group, Input, Stack, TextInput } from '@mantine/core'
import { ArrowDownIcon, ArrowUpIcon, PlusIcon, XIcon } from 'lucide-react'
import { useRef } from 'react'
import type { PortalField } from '../../api/portal/portal-settings.ts'
import type { Field, FormValue } from '../../parts/forms/record-form.tsx'
import { IconButton } from '../../parts/portal/icon-button.tsx'
import { say } from '../../texts/say.ts'

const LONGEST = 128

/** A field of a form for an ordered list of names, such as what a sign-up asks for. */
export function namesField(name: string, label: string, hint: string, rest: Partial<Pick<Field, 'when'>> = {}): Field {
  return {
    kind: 'part',
    name,
    label,
    ...rest,
    check: checkNames,
    draw: (form, readOnly) => {
      const { value, onChange, error } = form.getInputProps(name)
      return (
        <Input.Wrapper label={label} description={hint} error={error} labelElement="div">
          <NamesInput label={label} value={value} onChange={onChange} readOnly={readOnly} />
        </Input.Wrapper>
      )
    },
  }
}

/** The names of fields; what else is known about one is kept by `asFields`. */
export function namesOf(fields: readonly PortalField[]): string[] {
  return fields.map((field) => (typeof field === 'string' ? field : field.name))
}

/** Names as fields again, those that were there before with all that was said about them. */
export function asFields(names: readonly string[], before: readonly PortalField[]): PortalField[] {
  return names.map((name) => before.find((field) => typeof field !== 'string' && field.name === name) ?? name)
}

function checkNames(value: FormValue): string | undefined {
  const names = (value as readonly string[]).map((name) => name.trim())
  if (names.includes('')) return say('portal.nameEmpty')
  return new Set(names).size < names.length ? say('portal.nameTwice') : undefined
}

interface Props {
  readonly label: string
  readonly value: readonly string[]
  readonly onChange: (names: string[]) => void
  readonly readOnly: boolean
}

function NamesInput({ label, value, onChange, readOnly }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const change = (at: number, to: readonly string[]) => onChange(value.toSpliced(at, 1, ...to))
  const swap = (at: number) => onChange(value.toSpliced(at, 2, value[at + 1]!, value[at]!))
  const add = () => {
    onChange([...value, ''])
    // The row is there after the next drawing.
    requestAnimationFrame(() => [...(frame.current?.querySelectorAll('input') ?? [])].at(-1)?.focus())
  }
  return (
    <Stack gap="xs" mt={6} ref={frame}>
      {value.map((name, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified by their index alone while names are typed
        <Group key={at} gap={4} wrap="nowrap" maw="30rem">
          <TextInput
            flex={1}
            aria-label={say('portal.nameAt', { label, at: at + 1 })}
            value={name}
            maxLength={LONGEST}
            disabled={readOnly}
            dir="auto"
            onChange={({ currentTarget }) => change(at, [currentTarget.value])}
          />
          {!readOnly && (
            <>
              <IconButton
                label={say('portal.moveUp', { name: name || at + 1 })}
                disabled={at === 0}
                run={() => swap(at - 1)}
              >
                <ArrowUpIcon size={16} aria-hidden />
              </IconButton>
              <IconButton
                label={say('portal.moveDown', { name: name || at + 1 })}
                disabled={at === value.length - 1}
                run={() => swap(at)}
              >
                <ArrowDownIcon size={16} aria-hidden />
              </IconButton>
              <IconButton label={say('portal.removeName', { name: name || at + 1 })} run={() => change(at, [])}>
                <XIcon size={16} aria-hidden />
              </IconButton>
            </>
          )}
        </Group>
      ))}
      {!readOnly && (
        <Group>
          <Button variant="default" size="xs" leftSection={<PlusIcon size={14} aria-hidden />} onClick={add}>
            {say('portal.addField')}
          </Button>
        </Group>
      )}
    </Stack>
  )
}
