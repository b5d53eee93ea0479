import { Box, Grid, SegmentedControl, Stack } from '@mantine/core'
import type { ApiView } from '../../../api/apis/apis.ts'
import { useMay } from '../../../api/people/session.ts'
import { useAddress } from '../../../app/address.ts'
import { CodeEditor } from '../../../parts/editors/code-editor.tsx'
import { LeaveQuestion } from '../../../parts/forms/leave-question.tsx'
import { say } from '../../../texts/say.ts'
import { SaveBar } from '../editor/save-bar.tsx'
import { useDefinitionEditor } from '../editor/use-definition-editor.tsx'
import { SettingsForm } from '../settings/form.tsx'

const ABSENT = { view: 'form' } as const

/** Settings of an API as a form, as text, or both; each follows the other. The editor of the text is large: it is loaded when it is opened. */
export default function SettingsTab({ api }: { readonly api: ApiView }) {
  const mayWrite = useMay('apis', 'write')
  const editor = useDefinitionEditor(api)
  const [{ view: shown }, setAddress] = useAddress(ABSENT)
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
            <SettingsForm api={api} editor={editor} mayWrite={mayWrite} />
          </Grid.Col>
        )}
        {shown !== 'form' && (
          <Grid.Col span={{ base: 12, lg: shown === 'both' ? 6 : 12 }}>
            <Box pos="sticky" top={72}>
              <CodeEditor
                label={say(api.isOas ? 'apis.editorOas' : 'apis.editorClassic')}
                language="json"
                value={editor.binding.text}
                marks={editor.marks}
                height="calc(100vh - 15rem)"
                {...(mayWrite && { onChange: editor.binding.editText })}
              />
            </Box>
          </Grid.Col>
        )}
      </Grid>
      {mayWrite && <SaveBar api={api} editor={editor} />}
    </Stack>
  )
}
