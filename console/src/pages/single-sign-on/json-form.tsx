import { Input } from '@mantine/core'
import { isRecord } from '../../api/calls/call.ts'
import { CodeEditor } from '../../parts/editors/code-editor.tsx'
import { type Field, type FormValue, RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'

type Profile = Readonly<Record<string, unknown>>

/** A profile as it is stored, to be edited as text. */
export function JsonForm(props: {
  readonly stored: unknown
  readonly readOnly: boolean
  readonly submit: (profile: Profile) => Promise<unknown>
  readonly onDone: (answer: unknown) => void
}) {
  return (
    <RecordForm
      guarded
      readOnly={props.readOnly}
      fields={[{ heading: say('identity.json'), hint: say('identity.jsonHint') }, editor(props.readOnly)]}
      initial={{ text: JSON.stringify(props.stored, undefined, 2) }}
      done=""
      submit={({ text }) => props.submit(readProfile(text)!)}
      onDone={props.onDone}
    />
  )
}

function editor(readOnly: boolean): Field {
  return {
    kind: 'part',
    name: 'text',
    label: say('identity.json'),
    required: true,
    check: (value) => (readProfile(value) === undefined ? say('identity.jsonBad') : undefined),
    draw: (form) => {
      const { value, onChange, error } = form.getInputProps('text')
      return (
        <Input.Wrapper error={error}>
          <CodeEditor label={say('identity.json')} language="json" value={value} {...(!readOnly && { onChange })} />
        </Input.Wrapper>
      )
    },
  }
}

function readProfile(text: FormValue | undefined): Profile | undefined {
  try {
    const value: unknown = JSON.parse(String(text))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
