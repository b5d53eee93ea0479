import { Select } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { allOrganisations, chooseOrganisation, ORGANISATIONS_KEY } from '../api/people/organisations.ts'
import { useSession } from '../api/people/session.ts'
import { notifyFault } from '../parts/display/notify.ts'
import { say } from '../texts/say.ts'

const ALL = 'all'
const MOST_SHOWN = 100

/** Chooses the organisation that a user without one views. */
export default function OrganisationSwitch() {
  const { organisation } = useSession()
  const { data } = useQuery({
    queryKey: [...ORGANISATIONS_KEY, 'all'],
    queryFn: ({ signal }) => allOrganisations(signal),
  })
  const look = useChooseOrganisation()
  const names = data ?? (organisation === null ? [] : [{ id: organisation.id, owner_name: organisation.name }])
  return (
    <Select
      aria-label={say('shell.lookAt')}
      size="xs"
      w={{ base: 130, xs: 200 }}
      searchable
      allowDeselect={false}
      limit={MOST_SHOWN}
      nothingFoundMessage={say('shell.lookAtNone')}
      comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
      maxDropdownHeight={360}
      value={organisation?.id ?? ALL}
      disabled={look.isPending}
      onChange={(id) => id !== null && look.mutate(id === ALL ? '' : id)}
      data={[
        { value: ALL, label: say('shell.allOrganisations') },
        ...names.map(({ id, owner_name: name }) => ({ value: id, label: name || id })),
      ]}
    />
  )
}

/** Switches the viewed organisation: nothing on the page belongs to it, so the console restarts. */
export function useChooseOrganisation() {
  return useMutation({
    mutationFn: chooseOrganisation,
    onSuccess: () => window.location.assign('/'),
    onError: notifyFault,
  })
}
