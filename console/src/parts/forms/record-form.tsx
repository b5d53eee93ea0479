import { MultiSelect, NumberInput, Select, Switch, TagsInput, Textarea } from '@mantine/core'
import { say } from '../../texts/say.ts'
import { notifyDone } from '../display/notify.ts'
import { JsonArea } from '../editors/json-area.tsx'
import type { Choice, Heading } from './fields.ts'
import type { FormValue, FormValues } from './form-values.ts'
import { LeaveQuestion } from './leave-question.tsx'
import {
  commonOf,
  type Field,
  type FieldProps,
  FormPart,
  type FormProps,
  PlainForm,
  partsOf,
  TextField,
} from './plain-form.tsx'

export type { Choice, Field, FormValue, FormValues, Heading }
export { FormPart, partsOf }

interface RecordProps extends FormProps {
  /** The success message; '' for none. */
  readonly done?: string
}

/** The form of every page: fields by declaration, checks beside them, the refusal of the dashboard above the button. */
export function RecordForm({ done = say('part.saved'), onDone, ...props }: RecordProps) {
  const finish = (answer: unknown) => {
    if (done !== '') notifyDone(done)
    onDone?.(answer)
  }
  return <PlainForm {...props} onDone={finish} draw={FormField} leave={LeaveQuestion} />
}

/** More are found by typing. */
const MOST_CHOICES = 100
const CODE = { input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } } as const

/** One field of a form. */
export function FormField({ field, form, readOnly }: FieldProps) {
  if (field.kind === 'part') return field.draw(form, readOnly)
  const common = commonOf(field, readOnly)
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
  return <TextField field={field} form={form} readOnly={readOnly} />
}
