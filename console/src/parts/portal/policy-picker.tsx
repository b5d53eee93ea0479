import { MultiSelect } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { OFFERS_KEY, searchPolicies } from '../../api/portal/catalogue.ts'
import { say } from '../../texts/say.ts'
import type { Field } from '../forms/record-form.tsx'
import { usePolicyNames } from './policy-names.tsx'

const PAUSE_MS = 200
/** The field that policies are chosen by, in whichever form. */
export const POLICIES_FIELD = 'policies'

/** A field of a form for policies, looked for by the dashboard, so that thousands of them do no harm. */
export function policiesField(hint: string): Field {
  return {
    kind: 'part',
    name: POLICIES_FIELD,
    label: say('portal.policies'),
    required: true,
    draw: (form) => {
      const bound = form.getInputProps(POLICIES_FIELD)
      return <PolicyPicker required hint={hint} value={bound.value} onChange={bound.onChange} error={bound.error} />
    },
  }
}

/** Chooses policies by their names; the dashboard looks for them. */
export function PolicyPicker(props: {
  readonly label?: string
  readonly hint?: string
  readonly value: readonly string[]
  readonly onChange: (ids: string[]) => void
  readonly error?: ReactNode
  readonly required?: boolean
  readonly readOnly?: boolean
}) {
  const [text, setText] = useState('')
  const [wanted] = useDebouncedValue(text, PAUSE_MS)
  const nameOf = usePolicyNames(props.value)
  const { data: found = [] } = useQuery({
    queryKey: [...OFFERS_KEY, 'search', wanted],
    queryFn: ({ signal }) => searchPolicies(wanted, signal),
    placeholderData: keepPreviousData,
  })
  const known = new Map(found.map(({ id, _id, name }) => [id || _id, name]))
  for (const id of props.value) if (!known.has(id)) known.set(id, nameOf(id))
  return (
    <MultiSelect
      label={props.label ?? say('portal.policies')}
      description={props.hint}
      placeholder={props.value.length === 0 ? say('portal.policiesSearch') : ''}
      withAsterisk={props.required === true}
      disabled={props.readOnly === true}
      searchable
      hidePickedOptions
      value={[...props.value]}
      onChange={props.onChange}
      error={props.error}
      searchValue={text}
      onSearchChange={setText}
      filter={({ options }) => options}
      data={[...known].map(([value, label]) => ({ value, label }))}
      nothingFoundMessage={say('portal.policiesNone')}
      clearButtonProps={{ 'aria-label': say('portal.clear') }}
    />
  )
}
