import {
  Button,
  Group,
  MultiSelect,
  NumberInput,
  PasswordInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useRef } from 'react'
import { say } from '../texts/say.ts'
import { FaultBox } from './fault-box.tsx'
import { LeaveQuestion } from './leave-question.tsx'
import { notifyDone } from './notify.ts'

export type FormValue = string | number | boolean | readonly string[]
export type FormValues = Record<string, FormValue>

interface FieldPart {
  readonly name: string
  readonly label: string
  readonly hint?: ReactNode
  readonly required?: boolean
  readonly disabled?: boolean
  readonly placeholder?: string
  /** What is wrong with a value; undefined = nothing. */
  readonly check?: (value: FormValue, all: FormValues) => string | undefined
  /** False leaves the field out, for what the others say. */
  readonly when?: (all: FormValues) => boolean
}

export interface Choice {
  readonly value: string
  readonly label: string
}

/** A field of a form: what it is called, and what kind of thing is entered. */
export type Field = FieldPart &
  (
    | { readonly kind: 'text' | 'email' | 'url' | 'password' | 'date'; readonly autoComplete?: string }
    | { readonly kind: 'area'; readonly rows?: number; readonly isCode?: boolean }
    | { readonly kind: 'number'; readonly min?: number; readonly max?: number; readonly unit?: string }
    | { readonly kind: 'switch' }
    | { readonly kind: 'list' }
    | { readonly kind: 'choice' | 'choices'; readonly choices: readonly Choice[]; readonly clearable?: boolean }
    | { readonly kind: 'part'; readonly draw: (form: UseFormReturnType<FormValues>) => ReactNode }
  )

/** What stands above some fields; `when` leaves it out with them. */
export interface Heading {
  readonly heading: string
  readonly hint?: string
  readonly when?: (all: FormValues) => boolean
}

interface Props {
  readonly fields: readonly (Field | Heading)[]
  readonly initial: FormValues
  readonly submit: (values: FormValues) => Promise<unknown>
  readonly onDone?: (answer: unknown) => void
  readonly onCancel?: () => void
  readonly verb?: string
  /** What is said when it worked; '' for nothing. */
  readonly done?: string
  readonly readOnly?: boolean
  /** The button fills the width: for a form that is alone on its page. */
  readonly wide?: boolean
  /** Asks before a page with changes is left. */
  readonly guarded?: boolean
}

/** The form of every page: fields by declaration, checks beside them, the refusal of the dashboard above the button. */
export function RecordForm(props: Props) {
  const fields = props.fields.filter((field): field is Field => 'name' in field)
  const form = useForm<FormValues>({
    initialValues: props.initial,
    validate: Object.fromEntries(fields.map((field) => [field.name, checkOf(field)])),
  })
  // What is done with the answer may lead away at once, before the page is drawn again.
  const isSaved = useRef(false)
  const saving = useMutation({
    mutationFn: (values: FormValues) => {
      isSaved.current = false
      return props.submit(values)
    },
    onSuccess: (answer, values) => {
      isSaved.current = true
      form.resetDirty(values)
      const done = props.done ?? say('part.saved')
      if (done !== '') notifyDone(done)
      props.onDone?.(answer)
    },
  })
  const isDirty = props.guarded === true && form.isDirty()
  const leaving = useBlocker({
    shouldBlockFn: () => isDirty && !isSaved.current,
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  return (
    <form noValidate onSubmit={form.onSubmit((values) => saving.mutate(values))}>
      <LeaveQuestion leaving={leaving} />
      <Stack gap="md">
        {props.fields.map((field) =>
          field.when?.(form.values) === false ? null : 'heading' in field ? (
            <div key={field.heading}>
              <Text fw={650} mt="sm">
                {field.heading}
              </Text>
              {field.hint !== undefined && (
                <Text size="sm" c="dimmed">
                  {field.hint}
                </Text>
              )}
            </div>
          ) : (
            <FormField key={field.name} field={field} form={form} readOnly={props.readOnly === true} />
          ),
        )}
        <FaultBox error={saving.error} />
        {!props.readOnly && (
          <Group justify="flex-end" grow={props.wide === true}>
            {props.onCancel && (
              <Button variant="default" onClick={props.onCancel}>
                {say('part.cancel')}
              </Button>
            )}
            <Button type="submit" loading={saving.isPending}>
              {props.verb ?? say('part.save')}
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}

function checkOf(field: Field) {
  return (value: FormValue, all: FormValues): string | null => {
    if (field.when?.(all) === false) return null
    const isEmpty = value === '' || (Array.isArray(value) && value.length === 0)
    if (isEmpty) return field.required ? say('part.required') : null
    return field.check?.(value, all) ?? null
  }
}

const CODE = { input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } } as const

interface FieldProps {
  readonly field: Field
  readonly form: UseFormReturnType<FormValues>
  readonly readOnly: boolean
}

/** One field of a form. */
export function FormField({ field, form, readOnly }: FieldProps) {
  if (field.kind === 'part') return field.draw(form)
  const common = {
    label: field.label,
    description: field.hint,
    required: field.required === true,
    disabled: field.disabled === true || readOnly,
    ...(field.placeholder !== undefined && { placeholder: field.placeholder }),
  }
  // What the library binds differs by field; each of these takes it as it is.
  const bound = form.getInputProps(field.name) as { readonly value: never; readonly onChange: never }
  if (field.kind === 'switch')
    return (
      <Switch
        label={field.label}
        description={field.hint}
        disabled={common.disabled}
        {...form.getInputProps(field.name, { type: 'checkbox' })}
      />
    )
  if (field.kind === 'area') {
    const code = field.isCode && { styles: CODE, spellCheck: false }
    return <Textarea autosize minRows={field.rows ?? 3} maxRows={20} {...code} {...common} {...bound} />
  }
  if (field.kind === 'number')
    return (
      <NumberInput
        {...common}
        {...bound}
        {...(field.min !== undefined && { min: field.min })}
        {...(field.max !== undefined && { max: field.max })}
        {...(field.unit !== undefined && { suffix: ` ${field.unit}` })}
        thousandSeparator=" "
      />
    )
  if (field.kind === 'list') return <TagsInput {...common} {...bound} />
  if ('choices' in field) {
    if (field.kind === 'choices') return <MultiSelect data={[...field.choices]} searchable {...common} {...bound} />
    return (
      <Select data={[...field.choices]} allowDeselect={field.clearable === true} searchable {...common} {...bound} />
    )
  }
  const filling = field.autoComplete === undefined ? {} : { autoComplete: field.autoComplete }
  if (field.kind === 'password') return <PasswordInput {...common} {...filling} {...bound} />
  return <TextInput type={field.kind === 'text' ? 'text' : field.kind} {...common} {...filling} {...bound} />
}
