import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { say } from '../../texts/say.ts'
import { FaultBox } from '../display/fault-box.tsx'
import type { FieldPart, Heading, PlainField } from './fields.ts'
import type { FormValue, FormValues } from './form-values.ts'
import type { Leaving } from './leave-question.tsx'

/** A field of a form; a part is drawn by its caller. */
export type Field =
  | PlainField
  | (FieldPart & {
      readonly kind: 'part'
      readonly draw: (form: UseFormReturnType<FormValues>, readOnly: boolean) => ReactNode
    })

export interface FormProps {
  readonly fields: readonly (Field | Heading)[]
  readonly initial: FormValues
  readonly submit: (values: FormValues) => Promise<unknown>
  readonly onDone?: (answer: unknown) => void
  readonly onCancel?: () => void
  readonly verb?: string
  readonly readOnly?: boolean
  /** The button fills the width: for a form that is alone on its page. */
  readonly wide?: boolean
  /** Asks before a page with changes is left. */
  readonly guarded?: boolean
  /** Holds whether something was typed that is not saved. */
  readonly dirtiness?: RefObject<boolean>
  /** The errors of the initial values, by the names of fields. */
  readonly faults?: Readonly<Record<string, string>>
  /** Drawn above the buttons while something is not saved. */
  readonly summary?: (values: FormValues) => ReactNode
  /** Of a refusal, what is said at single fields, by their names. */
  readonly faultsOf?: (error: Error, values: FormValues) => Readonly<Record<string, string>>
}

/** One field of a form, and the form that it belongs to. */
export interface FieldProps {
  readonly field: Field
  readonly form: UseFormReturnType<FormValues>
  readonly readOnly: boolean
}

interface PlainProps extends FormProps {
  readonly draw?: (props: FieldProps) => ReactNode
  /** Asks before changes are lost; to be given where the form is `guarded`. */
  readonly leave?: (props: { readonly leaving: Leaving }) => ReactNode
}

/**
 * A form of texts and passwords, which is all that the pages before the sign-in need; `draw` knows the other kinds of fields. The
 * form of every other page is `RecordForm`.
 */
export function PlainForm({ draw: Draw = TextField, leave: Leave, ...props }: PlainProps) {
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
      {Leave && <Leave leaving={leaving} />}
      <Stack gap="md">
        {partsOf(props.fields, form.values).map(({ heading, fields: own }) => (
          <FormPart key={heading?.heading ?? ''} heading={heading}>
            {own.map((field) => (
              <Draw key={field.name} field={field} form={form} readOnly={props.readOnly === true} />
            ))}
          </FormPart>
        ))}
        {props.summary !== undefined && form.isDirty() && props.summary(form.values)}
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

/** A field of text: every kind of field has its label, hint and error in this way. */
export function TextField({ field, form, readOnly }: FieldProps) {
  if (field.kind === 'part') return field.draw(form, readOnly)
  const common = commonOf(field, readOnly)
  const bound = form.getInputProps(field.name) as { readonly value: never; readonly onChange: never }
  const filling = 'autoComplete' in field ? { autoComplete: field.autoComplete } : {}
  if (field.kind === 'password') return <PasswordInput {...common} {...filling} {...bound} />
  return <TextInput type={field.kind === 'text' ? 'text' : field.kind} {...common} {...filling} {...bound} />
}

/** The properties that inputs of every kind have. */
export function commonOf(field: PlainField, readOnly: boolean) {
  return {
    label: field.label,
    description: field.hint,
    required: field.required === true,
    disabled: field.disabled === true || readOnly,
    ...(field.placeholder !== undefined && { placeholder: field.placeholder }),
  }
}
