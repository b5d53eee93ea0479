import { Accordion, Alert, Box, Grid, SegmentedControl, Stack, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { TriangleAlertIcon } from 'lucide-react'
import { useMemo } from 'react'
import type { ApiSeen } from '../../../api/apis.ts'
import { EDGES_KEY, readEdges } from '../../../api/nodes.ts'
import { useMay } from '../../../api/session.ts'
import { useAddress } from '../../../app/address.ts'
import { CodeEditor } from '../../../parts/code-editor.tsx'
import { LeaveQuestion } from '../../../parts/leave-question.tsx'
import { LiveFields } from '../../../parts/live-fields.tsx'
import type { Field } from '../../../parts/record-form.tsx'
import { say } from '../../../texts/say.ts'
import { Operations } from '../operations.tsx'
import { SaveBar } from '../save-bar.tsx'
import { fieldsOf, SECTIONS, valuesOf, withValues } from '../settings-fields.ts'
import type { TwoWay } from '../two-way.ts'
import { useDefinitionEditor } from '../use-definition-editor.tsx'

const ABSENT = { view: '' } as const

/** Settings of an API as a form beside their text; each follows the other. */
export default function SettingsTab({ api }: { readonly api: ApiSeen }) {
  const mayWrite = useMay('apis', 'write')
  const editor = useDefinitionEditor(api)
  const isWide = useMediaQuery('(min-width: 75em)', true)
  const [{ view }, setAddress] = useAddress(ABSENT)
  const shown = view === '' ? (isWide ? 'both' : 'form') : view
  return (
    <Stack gap="md">
      {editor.dialog}
      <LeaveQuestion leaving={editor.leaving} />
      <SegmentedControl
        value={shown}
        onChange={(next) => setAddress({ view: next })}
        aria-label={say('apis.view')}
        w="fit-content"
        size="xs"
        data={[
          { value: 'form', label: say('apis.viewForm') },
          { value: 'both', label: say('apis.viewBoth') },
          { value: 'text', label: say('apis.viewText') },
        ]}
      />
      <Grid gap="lg">
        {shown !== 'text' && (
          <Grid.Col span={{ base: 12, lg: shown === 'both' ? 6 : 12 }}>
            <SettingsForm api={api} way={editor.way} readOnly={!mayWrite} />
          </Grid.Col>
        )}
        {shown !== 'form' && (
          <Grid.Col span={{ base: 12, lg: shown === 'both' ? 6 : 12 }}>
            <Box pos="sticky" top={72}>
              <CodeEditor
                label={say(api.isOas ? 'apis.editorOas' : 'apis.editorClassic')}
                language="json"
                value={editor.way.text}
                marks={editor.marks}
                height="calc(100vh - 15rem)"
                {...(mayWrite && { onChange: editor.way.editText })}
              />
            </Box>
          </Grid.Col>
        )}
      </Grid>
      {mayWrite && <SaveBar editor={editor} />}
    </Stack>
  )
}

function SettingsForm(props: { readonly api: ApiSeen; readonly way: TwoWay; readonly readOnly: boolean }) {
  const { api, way } = props
  const { isOas } = api
  const values = useMemo(() => valuesOf(way.definition, isOas), [way.definition, isOas])
  const edges = useQuery({ queryKey: EDGES_KEY, queryFn: readEdges })
  const fields = useMemo(() => {
    const suggestions = [...new Set(edges.data?.flatMap(({ tags }) => tags))]
    const suggesting = (field: Field): Field =>
      field.name === 'tags' ? { ...field, kind: 'list', suggestions } : field
    return SECTIONS.map((section) => ({ section, fields: fieldsOf(section, isOas).map(suggesting) }))
  }, [isOas, edges.data])
  return (
    <Stack gap="sm">
      {way.fault !== undefined && (
        <Alert color="yellow" icon={<TriangleAlertIcon aria-hidden />} title={say('apis.textBroken')}>
          {say('apis.atLine', { line: way.fault.line, message: way.fault.message })}
        </Alert>
      )}
      <Accordion multiple variant="separated" defaultValue={['general', 'upstream']} order={2}>
        {fields.map(({ section, fields: own }) => (
          <Accordion.Item key={section.name} value={section.name}>
            <Accordion.Control>
              <Text fw={600}>{say(`apis.section.${section.name}`)}</Text>
              <Text size="xs" c="dimmed">
                {say(`apis.sectionHint.${section.name}`)}
              </Text>
            </Accordion.Control>
            <Accordion.Panel>
              <LiveFields
                fields={own}
                values={values}
                onChange={(next) => way.edit((definition) => withValues(definition, isOas, next))}
                readOnly={props.readOnly || way.fault !== undefined}
              />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
        {isOas && <Operations way={way} readOnly={props.readOnly || way.fault !== undefined} />}
      </Accordion>
    </Stack>
  )
}
