import type { Webhook, WebhookEdit } from '../../api/platform/webhooks.ts'
import type { Field, FormValues } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'

const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE']

/** The fields of a webhook; a stored one may give up its secret. */
export function webhookFields(isNew: boolean): readonly Field[] {
  return [
    { name: 'name', label: say('webhooks.name'), hint: say('webhooks.nameHint'), kind: 'text', required: true },
    {
      name: 'target_path',
      label: say('webhooks.target'),
      hint: say('webhooks.targetHint'),
      kind: 'url',
      required: true,
      placeholder: 'https://',
    },
    {
      name: 'method',
      label: say('webhooks.method'),
      kind: 'choice',
      choices: METHODS.map((method) => ({ value: method, label: method })),
    },
    {
      name: 'shared_secret',
      label: say('webhooks.secret'),
      hint: say(isNew ? 'webhooks.secretNewHint' : 'webhooks.secretHint'),
      kind: 'password',
      autoComplete: 'new-password',
      when: ({ unsigned }) => unsigned !== true,
    },
    ...(isNew ? [] : [{ name: 'unsigned', label: say('webhooks.unsigned'), kind: 'switch' } as const]),
    {
      name: 'header_map',
      label: say('webhooks.headers'),
      hint: say('webhooks.headersHint'),
      kind: 'area',
      rows: 2,
      check: (value) => (linesOf(value).every(isField) ? undefined : say('webhooks.headersBad')),
    },
  ]
}

/** The initial form values. */
export function webhookValues(webhook: Webhook | undefined): FormValues {
  const fields = Object.entries(webhook?.header_map ?? {})
  return {
    name: webhook?.name ?? '',
    target_path: webhook?.target_path ?? '',
    method: webhook?.method ?? 'POST',
    shared_secret: '',
    unsigned: false,
    header_map: fields.map(([name, value]) => `${name}: ${value}`).join('\n'),
  }
}

/** The webhook in the form. */
export function webhookIn(values: FormValues): WebhookEdit {
  const secret = values.unsigned === true ? '' : String(values.shared_secret ?? '') || undefined
  return {
    name: String(values.name).trim(),
    target_path: String(values.target_path).trim(),
    method: String(values.method),
    header_map: Object.fromEntries(linesOf(values.header_map).map(fieldOf)),
    ...(secret !== undefined && { shared_secret: secret }),
  }
}

function linesOf(value: unknown): readonly string[] {
  return String(value ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function isField(line: string): boolean {
  return /^[^:\s]+\s*:\s*\S/.test(line)
}

function fieldOf(line: string): readonly [string, string] {
  const at = line.indexOf(':')
  return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
}
