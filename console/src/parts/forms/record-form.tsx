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
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { say } from '../../texts/say.ts'
import { FaultBox } from '../display/fault-box.tsx'
import { notifyDone } from '../display/notify.ts'
import { JsonArea } from '../editors/json-area.tsx'
import type { Choice, FieldPart, Heading, PlainField } from './fields.ts'
import type { FormValue, FormValues } from './form-values.ts'
import { LeaveQuestion } from './leave-question.tsx'

export type { Choice, FormValue, FormValues, Heading }

/** A field of a form; a part is drawn by its caller. */
export type Field =
  | PlainField
  | (FieldPart & {
      readonly kind: 'part'
      readonly draw: (form: UseFormReturnType<FormValues>, readOnly: boolean) => ReactNode
    })

interface Props {
  readonly fields: readonly (Field | Heading)[]
  readonly initial: FormValues
  readonly submit: (values: FormValues) => Promise<unknown>
  readonly onDone?: (answer: unknown) => void
  readonly onCancel?: () => void
  readonly verb?: string
  /** The success message; '' for none. */
  readonly done?: string
  readonly readOnly?: boolean
  /** The button fills the width: for a form that is alone on its page. */
  readonly wide?: boolean
  /** Asks before a page with changes is left. */
  readonly guarded?: boolean
  /** Holds whether something was typed that is not saved. */
  readonly dirtiness?: RefObject<boolean>
  /** The errors of the initial values, by the names of fields. */
  readonly faults?: Readonly<Record<string, string>>
  /** Of a refusal, what is said at single fields, by their names. */
  readonly faultsOf?: (error: Error, values: FormValues) => Readonly<Record<string, string>>
}

/** The form of every page: fields by declaration, checks beside them, the refusal of the dashboard above the button. */
export function RecordForm(props: Props) {
  const fields = props.fields.filter((field): field is Field => 'name' in field)
  // The handler of the response may navigate at once, before the page is drawn again.
  const isSaved = useRef(false)
  const form = useForm<FormValues>({
    initialValues: props.initial,
    initialErrors: { ...props.faults },
    validate: Object.fromEntries(fields.map((field) => [field.name, checkOf(field)])),
    onValuesChange: () => {
      isSaved.current = false
    },
  })
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
    onError: (error, values) => {
      if (props.faultsOf !== undefined) form.setErrors(props.faultsOf(error, values))
    },
  })
  useEffect(() => {
    if (props.dirtiness !== undefined) props.dirtiness.current = form.isDirty()
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
        {partsOf(props.fields, form.values).map(({ heading, fields: own }) => (
          <FormPart key={heading?.heading ?? ''} heading={heading}>
            {own.map((field) => (
              <FormField key={field.name} field={field} form={form} readOnly={props.readOnly === true} />
            ))}
          </FormPart>
        ))}
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

interface Part {
  /** None before the first heading. */
  readonly heading: Heading | undefined
  readonly fields: Field[]
}

/** The visible fields, each with its heading. */
export function partsOf(entries: readonly (Field | Heading)[], values: FormValues): readonly Part[] {
  const parts: Part[] = [{ heading: undefined, fields: [] }]
  for (const entry of entries) {
    if (entry.when?.(values) === false) continue
    if ('heading' in entry) parts.push({ heading: entry, fields: [] })
    else parts.at(-1)!.fields.push(entry)
  }
  return parts
}

/** Fields below their heading. */
export function FormPart({ heading, children }: Pick<Part, 'heading'> & { readonly children: ReactNode }) {
  if (heading === undefined) return children
  const all = (
    <>
      <div>
        <Text fw={650} mt="sm">
          {heading.heading}
        </Text>
        {heading.hint !== undefined && (
          <Text size="sm" c="dimmed">
            {heading.hint}
          </Text>
        )}
      </div>
      {children}
    </>
  )
  if (heading.isPart !== true) return all
  return (
    <Stack gap="md" component="section" aria-label={heading.heading}>
      {all}
    </Stack>
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

/** More are found by typing. */
const MOST_CHOICES = 100
const CODE = { input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } } as const

interface FieldProps {
  readonly field: Field
  readonly form: UseFormReturnType<FormValues>
  readonly readOnly: boolean
}

/** One field of a form. */
export function FormField({ field, form, readOnly }: FieldProps) {
  if (field.kind === 'part') return field.draw(form, readOnly)
  const common = {
    label: field.label,
    description: field.hint,
    required: field.required === true,
    disabled: field.disabled === true || readOnly,
    ...(field.placeholder !== undefined && { placeholder: field.placeholder }),
  }
  // The library's bindings differ by field; each of these uses its own.
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
  if (field.kind === 'json') return <JsonArea styles={CODE} {...common} {...bound} />
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
  if (field.kind === 'list') {
    const whole = field.isWhole && { splitChars: [] }
    return <TagsInput data={[...(field.suggestions ?? [])]} {...whole} {...common} {...bound} />
  }
  if ('choices' in field) {
    if (field.kind === 'choices')
      return <MultiSelect data={[...field.choices]} limit={MOST_CHOICES} searchable {...common} {...bound} />
    return (
      <Select
        data={[...field.choices]}
        limit={MOST_CHOICES}
        allowDeselect={field.clearable === true}
        searchable
        {...common}
        {...bound}
        // A cleared value is nothing, which forms hold as an empty text.
        onChange={(value) => form.getInputProps(field.name).onChange(value ?? '')}
      />
    )
  }
  const filling = field.autoComplete === undefined ? {} : { autoComplete: field.autoComplete }
  if (field.kind === 'password') return <PasswordInput {...common} {...filling} {...bound} />
  return <TextInput type={field.kind === 'text' ? 'text' : field.kind} {...common} {...filling} {...bound} />
}
