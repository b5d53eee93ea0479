import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { isRecord } from '../../api/call.ts'
import { CodeEditor } from '../../parts/code-editor.tsx'
import { FaultBox } from '../../parts/fault-box.tsx'
import { notifyDone } from '../../parts/notify.ts'
import { say } from '../../texts/say.ts'

/** A profile as it is stored, to be edited as text. */
export function JsonForm(props: {
  readonly stored: unknown
  readonly readOnly: boolean
  readonly submit: (profile: Readonly<Record<string, unknown>>) => Promise<unknown>
  readonly onDone: (answer: unknown) => void
}) {
  const [text, setText] = useState(() => JSON.stringify(props.stored, undefined, 2))
  const saving = useMutation({
    mutationFn: async () => props.submit(readProfile(text)),
    onSuccess: (answer) => {
      notifyDone(say('part.saved'))
      props.onDone(answer)
    },
  })
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {say('identity.jsonHint')}
      </Text>
      <CodeEditor
        label={say('identity.json')}
        language="json"
        value={text}
        {...(!props.readOnly && { onChange: setText })}
      />
      <FaultBox error={saving.error} />
      {!props.readOnly && (
        <Group justify="flex-end">
          <Button loading={saving.isPending} onClick={() => saving.mutate()}>
            {say('part.save')}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function readProfile(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value
  } catch {
    // Said below, as for everything else that is no object.
  }
  throw new Error(say('identity.jsonBad'))
}
