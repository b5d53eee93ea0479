import '@mantine/spotlight/styles.css'
import { useDebouncedValue } from '@mantine/hooks'
import {
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
  type SpotlightFilterFunction,
  spotlight,
} from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useSession } from '../api/people/session.ts'
import { say } from '../texts/say.ts'
import { ACTIONS } from './command-actions.ts'
import { findObjects, ICONS } from './command-objects.ts'
import { menuOf } from './navigation.ts'

const SHORTEST = 2
const PAUSE_MS = 150
const MOST = 30

/** Ctrl-K: every page, every action, and every object by its name. */
export default function CommandBar(props: { readonly opened: boolean; readonly onClose: () => void }) {
  const session = useSession()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [asked] = useDebouncedValue(text.trim(), PAUSE_MS)
  const isAsking = props.opened && asked.length >= SHORTEST
  const { data: objects = [], isFetching } = useQuery({
    queryKey: ['command-bar', asked],
    queryFn: ({ signal }) => findObjects(session, asked, signal),
    enabled: isAsking,
    placeholderData: (before) => before,
  })
  useEffect(() => {
    if (props.opened) spotlight.open()
  }, [props.opened])

  const go = (to: string) => () => void navigate({ href: to })
  const places = menuOf(session)
    .flatMap((group) => group.places)
    .map(({ to, text: name, icon: Sign }) => ({ id: `place:${to}`, label: say(name), icon: Sign, to }))
  const begun = ACTIONS.filter(({ may }) => may(session)).map(({ to, text: name, icon: Sign }) => ({
    ...{ id: `action:${to}`, label: say(name), icon: Sign, to },
  }))
  const found = isAsking && text.trim().length >= SHORTEST ? objects : []
  const group = (name: string, rows: readonly (typeof places)[number][]): SpotlightActionGroupData => ({
    group: name,
    actions: rows.map(({ id, label, icon: Sign, to }) => ({
      ...{ id, label, onClick: go(to) },
      leftSection: <Sign size={18} aria-hidden />,
    })),
  })
  const groups: SpotlightActionGroupData[] = [
    {
      group: say('shell.objects'),
      actions: found.map(({ to, label, kind }) => {
        const Sign = ICONS[kind]
        return {
          ...{ id: `object:${to}`, label, description: say(kind), onClick: go(to) },
          leftSection: <Sign size={18} aria-hidden />,
        }
      }),
    },
    group(say('shell.actions'), begun),
    group(say('shell.pages'), places),
  ]
  return (
    <Spotlight
      actions={groups}
      filter={filterActions}
      query={text}
      onQueryChange={setText}
      onSpotlightClose={props.onClose}
      nothingFound={say(isFetching ? 'part.loading' : 'shell.searchNothing')}
      highlightQuery
      limit={MOST}
      scrollable
      attributes={{ content: { 'aria-label': say('shell.search') } }}
      maxHeight={440}
      searchProps={{ placeholder: say('shell.search'), 'aria-label': say('shell.search') }}
      shortcut={null}
    />
  )
}

/** Objects were found by the dashboard, perhaps by something that is not shown; the others by what they are called. */
const filterActions: SpotlightFilterFunction = (query, actions) => {
  const part = query.trim().toLowerCase()
  const fits = ({ id, label }: SpotlightActionData) =>
    id.startsWith('object:') || String(label).toLowerCase().includes(part)
  const groups = actions.filter((one): one is SpotlightActionGroupData => 'actions' in one)
  return groups
    .map((group) => ({ ...group, actions: group.actions.filter(fits) }))
    .filter((group) => group.actions.length > 0)
}
