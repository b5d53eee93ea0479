import { Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect, useRef } from 'react'
import { type Field, FormField, FormPart, type FormValues, type Heading, partsOf } from './record-form.tsx'

interface Props {
  readonly fields: readonly (Field | Heading)[]
  /** Also those of other forms, which `when` may ask for. */
  readonly values: FormValues
  /** Called for every change, with the values of these fields alone. */
  readonly onChange: (values: FormValues) => void
  readonly readOnly: boolean
  /** The errors of the values, by the names of fields. */
  readonly faults?: Readonly<Record<string, string>>
}

const NO_FAULTS = {}

/** Fields without a button, of values that live somewhere else and may change there too. */
export function LiveFields({ fields, values, onChange, readOnly, faults = NO_FAULTS }: Props) {
  const own = useRef(new OwnChanges())
  const latest = useRef(onChange)
  latest.current = onChange
  const form = useForm<FormValues>({
    initialValues: values,
    onValuesChange: (next, before) => {
      own.current.made(next, before)
      const names = fields.flatMap((field) => ('name' in field ? [field.name] : []))
      latest.current(Object.fromEntries(names.map((name) => [name, next[name]!])))
    },
  })
  const { getValues, setValues, setErrors } = form
  useEffect(() => {
    const there = own.current.ofOthers(values, getValues())
    if (Object.keys(there).length > 0) setValues(there)
  }, [values, getValues, setValues])
  useEffect(() => setErrors(faults), [faults, setErrors])
  return (
    <Stack gap="md">
      {partsOf(fields, form.values).map(({ heading, fields: own }) => (
        <FormPart key={heading?.heading ?? ''} heading={heading}>
          {own.map((field) => (
            <FormField key={field.name} field={field} form={form} readOnly={readOnly} />
          ))}
        </FormPart>
      ))}
    </Stack>
  )
}

/**
 * Separates changes of others from echoes of one's own. A user who types on is ahead of the echo: applying it would
 * undo what was typed since.
 */
class OwnChanges {
  /** By field, what was typed and has not come back yet, as text. */
  readonly #underWay = new Map<string, string[]>()
  #seen: FormValues | undefined

  made(next: FormValues, before: FormValues): void {
    for (const name of Object.keys(next)) {
      const text = JSON.stringify(next[name])
      if (text === JSON.stringify(before[name])) continue
      const list = this.#underWay.get(name) ?? []
      list.push(text)
      this.#underWay.set(name, list)
    }
  }

  /** Of the new values, those that another user has changed and the form does not show. */
  ofOthers(values: FormValues, shown: FormValues): Partial<FormValues> {
    const seen = this.#seen
    this.#seen = values
    const names = Object.keys(values).filter((name) => this.#isOfOthers(name, values, shown, seen))
    return Object.fromEntries(names.map((name) => [name, values[name]!]))
  }

  #isOfOthers(name: string, values: FormValues, shown: FormValues, seen: FormValues | undefined): boolean {
    const text = JSON.stringify(values[name])
    const underWay = this.#underWay.get(name) ?? []
    if (text === JSON.stringify(shown[name])) {
      this.#underWay.delete(name)
      return false
    }
    if (seen !== undefined && text === JSON.stringify(seen[name]) && underWay.length > 0) return false
    const at = underWay.indexOf(text)
    underWay.splice(0, at + 1)
    return at === -1
  }
}
