import { Select } from '@mantine/core'
import type { Field } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'

/** Chooses what an entry offers; its name is proposed as that of the entry. What is in the catalogue already cannot be chosen. */
export function OfferSelect(props: {
  readonly label: string
  readonly name: string
  readonly form: Parameters<Extract<Field, { kind: 'part' }>['draw']>[0]
  readonly offers: readonly { readonly id: string; readonly name: string; readonly taken: boolean }[]
  readonly onSearch: (text: string) => void
}) {
  const { name, form, offers } = props
  const { value, error } = form.getInputProps(name)
  const choose = (id: string | null) => {
    form.setFieldValue(name, id ?? '')
    const before = offers.find((offer) => offer.id === value)?.name ?? ''
    const isOwn = form.values.name !== '' && form.values.name !== before
    if (!isOwn) form.setFieldValue('name', offers.find((offer) => offer.id === id)?.name ?? '')
  }
  return (
    <Select
      label={props.label}
      placeholder={say('portal.typeToSearch')}
      withAsterisk
      searchable
      value={value === '' ? null : value}
      onChange={choose}
      error={error}
      onSearchChange={props.onSearch}
      filter={({ options }) => options}
      data={offers.map((offer) => ({
        value: offer.id,
        label: offer.taken ? say('portal.taken', { name: offer.name }) : offer.name,
        disabled: offer.taken,
      }))}
      nothingFoundMessage={say('portal.nothingFound')}
    />
  )
}
