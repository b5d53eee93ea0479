import { Accordion, Alert, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { TriangleAlertIcon } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import type { ApiView } from '../../../api/apis/apis.ts'
import { EDGES_KEY, readEdges } from '../../../api/platform/nodes.ts'
import { type Flaw, faultsAt, isBelow } from '../../../parts/editors/openapi-place.ts'
import { LiveFields } from '../../../parts/forms/live-fields.tsx'
import type { Field, Heading } from '../../../parts/forms/record-form.tsx'
import { say } from '../../../texts/say.ts'
import { EXTENSION } from '../editor/tree.ts'
import type { DefinitionEditor } from '../editor/use-definition-editor.tsx'
import { Operations } from '../operations/operations.tsx'
import { ENTRY_KINDS } from './entry-kinds.ts'
import { partField } from './parts.tsx'
import { placesOf, SECTIONS, type Section, valuesOf, withValues } from './sections.ts'
import { fieldOf, headingOf, settingsIn } from './setting.ts'

interface Props {
  readonly api: ApiView
  readonly editor: DefinitionEditor
  readonly mayWrite: boolean
}

const OPERATIONS = 'operations'

/** Settings of an API by sections that fold; one in which something is refused opens. */
export function SettingsForm({ api, editor, mayWrite }: Props) {
  const { binding, flaws } = editor
  const readOnly = !mayWrite || binding.fault !== undefined
  const [open, setOpen] = useState<string[]>(['general', 'upstream'])
  useEffect(() => {
    const refused = SECTIONS.filter((section) => isRefused(section, api.isOas, flaws)).map(({ name }) => name as string)
    const ofOperations = flaws.some(({ at }) => isBelow(at, OPERATIONS_PLACE)) ? [OPERATIONS] : []
    setOpen((before) => [...new Set([...before, ...refused, ...ofOperations])])
  }, [api.isOas, flaws])
  return (
    <Stack gap="sm">
      {!mayWrite && (
        <Text size="sm" c="dimmed">
          {say('apiSet.lookOnly')}
        </Text>
      )}
      {binding.fault !== undefined && (
        <Alert color="yellow" icon={<TriangleAlertIcon aria-hidden />} title={say('apis.textBroken')}>
          {say('apis.atLine', { line: binding.fault.line, message: binding.fault.message })}
        </Alert>
      )}
      <Accordion multiple variant="separated" value={open} onChange={setOpen} order={2}>
        {SECTIONS.map((section) => (
          <Accordion.Item key={section.name} value={section.name}>
            <Accordion.Control>
              <Text fw={600}>{say(`apis.section.${section.name}`)}</Text>
              <Text size="xs" c="dimmed">
                {say(`apis.sectionHint.${section.name}`)}
              </Text>
            </Accordion.Control>
            <Accordion.Panel>
              <SectionFields {...{ api, editor, readOnly, section }} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
        {api.isOas && <Operations binding={binding} flaws={flaws} readOnly={readOnly} />}
      </Accordion>
    </Stack>
  )
}

const OPERATIONS_PLACE = [EXTENSION, 'middleware', 'operations'] as const

function isRefused(section: Section, isOas: boolean, flaws: readonly Flaw[]): boolean {
  const lists = section.entries.flatMap((entry) =>
    'part' in entry && entry.part !== 'purge' ? ENTRY_KINDS[entry.part].listing.places(isOas) : [],
  )
  const places = [...placesOf(section, isOas).map(([, place]) => place), ...lists]
  return flaws.some(({ at }) => places.some((place) => isBelow(at, place)))
}

function SectionFields(props: Omit<Props, 'mayWrite'> & { readonly readOnly: boolean; readonly section: Section }) {
  const { api, editor, readOnly, section } = props
  const { binding, flaws } = editor
  const { isOas } = api
  const values = useMemo(() => valuesOf(binding.definition, isOas), [binding.definition, isOas])
  const faults = useMemo(() => faultsAt(flaws, placesOf(section, isOas)), [flaws, section, isOas])
  const edges = useQuery({ queryKey: EDGES_KEY, queryFn: readEdges })
  const settings = settingsIn(section.entries, isOas)
  const fields = section.entries.flatMap((entry): readonly (Field | Heading)[] => {
    if ('above' in entry) return [headingOf(entry)]
    if ('part' in entry) return [partField(entry, { api, editor })]
    if (!settings.includes(entry)) return []
    const field = fieldOf(entry)
    if (field.name !== 'tags') return [field]
    return [{ ...field, kind: 'list', suggestions: [...new Set(edges.data?.flatMap(({ tags }) => tags))] }]
  })
  return (
    <LiveFields
      fields={fields}
      values={values}
      faults={faults}
      onChange={(next) => binding.edit((definition) => withValues(definition, isOas, next))}
      readOnly={readOnly}
    />
  )
}
