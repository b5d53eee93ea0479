import { Select } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ApiView } from '../../../api/apis/apis.ts'
import type { Field, FormValues } from '../../../parts/forms/record-form.tsx'
import { say } from '../../../texts/say.ts'
import { pairsField } from '../../developers/pairs-input.tsx'
import {
  type CredentialPlace,
  credentialOf,
  hasBody,
  METHODS,
  openPart,
  pathAt,
  triedOperations,
} from './try-it-request.ts'

/** The form of a test request. Choosing an operation fills in method and path. */
export function tryFields(api: ApiView, onOperation: (key: string) => void): readonly Field[] {
  const operations = triedOperations(api)
  const credential = credentialOf(api)
  const choose = (form: UseFormReturnType<FormValues>, key: string) => {
    const chosen = operations.find((operation) => operation.key === key)
    form.setFieldValue('operation', key)
    onOperation(key)
    if (chosen === undefined) return
    form.setFieldValue('method', chosen.method)
    form.setFieldValue('path', pathAt(api, chosen.path))
  }
  const operation: Field = {
    kind: 'part',
    name: 'operation',
    label: say('try.operation'),
    draw: (form) => (
      <Select
        label={say('try.operation')}
        description={say('try.operationHint')}
        searchable
        allowDeselect={false}
        value={String(form.values.operation)}
        data={[
          { value: '', label: say('try.free') },
          ...operations.map(({ key, method, path, summary }) => ({
            value: key,
            label: summary === '' ? `${method} ${path}` : `${method} ${path} · ${summary}`,
          })),
        ]}
        onChange={(key) => choose(form, key ?? '')}
      />
    ),
  }
  return [
    ...(operations.length > 0 ? [operation] : []),
    {
      ...{ kind: 'choice', name: 'method', label: say('try.method') },
      choices: METHODS.map((method) => ({ value: method, label: method })),
    },
    {
      ...{ kind: 'text', name: 'path', label: say('try.path'), required: true },
      hint: say('try.pathHint', { path: api.listenPath }),
      check: (path) => {
        const open = openPart(String(path))
        return open === undefined ? undefined : say('try.pathOpen', { name: open })
      },
    },
    ...(credential === undefined ? [] : [credentialField(credential)]),
    pairsField('headers', say('try.headers'), ''),
    {
      ...{ kind: 'area', name: 'body', label: say('try.body'), rows: 5 },
      when: ({ method }) => hasBody(method),
    },
  ]
}

function credentialField({ where, name, isLogin }: CredentialPlace): Field {
  const hint = say(`try.credentialHint.${where}`, { name })
  return {
    ...{ kind: 'password', name: 'credential', autoComplete: 'off' },
    label: say(isLogin ? 'try.login' : 'try.credential'),
    hint: isLogin ? `${say('try.loginHint')} ${hint}` : hint,
  }
}
