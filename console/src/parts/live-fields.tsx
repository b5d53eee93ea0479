import { Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect, useRef } from 'react'
import { type Field, FormField, type FormValues } from './record-form.tsx'

interface Props {
  readonly fields: readonly Field[]
  /** Also those of other forms, which `when` may ask for. */
  readonly values: FormValues
  /** Told of every change, with the values of these fields alone. */
  readonly onChange: (values: FormValues) => void
  readonly readOnly: boolean
}

/** Fields without a button, of values that live somewhere else and may change there too. */
export function LiveFields({ fields, values, onChange, readOnly }: Props) {
  const told = useRef(onChange)
  told.current = onChange
  const form = useForm<FormValues>({
    initialValues: values,
    onValuesChange: (next) => told.current(Object.fromEntries(fields.map(({ name }) => [name, next[name]!]))),
  })
  const { getValues, setValues } = form
  useEffect(() => {
    if (JSON.stringify(getValues()) !== JSON.stringify(values)) setValues(values)
  }, [values, getValues, setValues])
  return (
    <Stack gap="md">
      {fields.map((field) =>
        field.when?.(form.values) === false ? null : (
          <FormField key={field.name} field={field} form={form} readOnly={readOnly} />
        ),
      )}
    </Stack>
  )
}
