import { Accordion, Alert, Loader, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { TriangleAlertIcon } from 'lucide-react'
import { type ReactNode, Suspense, useEffect, useMemo, useState } from 'react'
import type { ApiView } from '../../../api/apis/apis.ts'
import { EDGES_KEY, readEdges } from '../../../api/platform/nodes.ts'
import { LoadBoundary, lazyPart } from '../../../parts/display/lazy-part.tsx'
import { count } from '../../../parts/display/when.tsx'
import { type Flaw, faultsAt, isBelow } from '../../../parts/editors/openapi-place.ts'
import { LiveFields } from '../../../parts/forms/live-fields.tsx'
import type { Field, FormValues, Heading } from '../../../parts/forms/record-form.tsx'
import { say } from '../../../texts/say.ts'
import { EXTENSION } from '../editor/tree.ts'
import type { DefinitionEditor } from '../editor/use-definition-editor.tsx'
import { operationsOf } from '../openapi/openapi-operations.ts'
import { ENTRY_KINDS } from './entry-kinds.ts'
import { placesOf, SECTIONS, type Section, valuesOf, withValues } from './sections.ts'
import { fieldOf, headingOf, isShown, type SettingPart, settingsIn } from './setting.ts'

/** Lists and tables are loaded with the first section that has some and is opened. */
const FormPiece = lazyPart(() => import('./parts.tsx'))
const Operations = lazyPart(() => import('../operations/operations.tsx'))

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
            <OpenedPanel isOpen={open.includes(section.name)}>
              <SectionFields {...{ api, editor, readOnly, section }} />
            </OpenedPanel>
          </Accordion.Item>
        ))}
        {api.isOas && (
          <Accordion.Item value={OPERATIONS}>
            <OperationsControl binding={binding} />
            <OpenedPanel isOpen={open.includes(OPERATIONS)}>
              <Operations binding={binding} flaws={flaws} readOnly={readOnly} />
            </OpenedPanel>
          </Accordion.Item>
        )}
      </Accordion>
    </Stack>
  )
}

function OperationsControl({ binding }: Pick<DefinitionEditor, 'binding'>) {
  const number = useMemo(() => operationsOf(binding.definition).length, [binding.definition])
  return (
    <Accordion.Control>
      <Text fw={600}>{say('apis.section.operations', { count: count(number) })}</Text>
      <Text size="xs" c="dimmed">
        {say('apis.sectionHint.operations')}
      </Text>
    </Accordion.Control>
  )
}

/** A panel that is drawn when it is first opened, and stays. */
function OpenedPanel({ isOpen, children }: { readonly isOpen: boolean; readonly children: ReactNode }) {
  const [wasOpen, setWasOpen] = useState(isOpen)
  if (isOpen && !wasOpen) setWasOpen(true)
  return (
    <Accordion.Panel>
      {wasOpen && (
        <LoadBoundary>
          <Suspense fallback={<Loader size="sm" role="status" aria-label={say('part.loading')} />}>{children}</Suspense>
        </LoadBoundary>
      )}
    </Accordion.Panel>
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
    if ('part' in entry) return [partField(entry, api, editor)]
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

function partField({ part, when }: SettingPart, api: ApiView, editor: DefinitionEditor): Field {
  return {
    ...{ kind: 'part', name: part, label: part },
    ...(when !== undefined && { when: (all: FormValues) => isShown(when, all) }),
    draw: (_form, readOnly) => <FormPiece {...{ part, api, editor, readOnly }} />,
  }
}
