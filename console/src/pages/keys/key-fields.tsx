import { Box, Input } from '@mantine/core'
import type { KeySession, Rights } from '../../api/access/keys.ts'
import { LimitInputs } from '../../parts/forms/limit-inputs.tsx'
import type { Field, FormValues } from '../../parts/forms/record-form.tsx'
import { RightsEditor } from '../../parts/forms/rights-editor.tsx'
import { policiesField } from '../../parts/portal/policy-picker.tsx'
import { say } from '../../texts/say.ts'
import { pairsField } from '../developers/pairs-input.tsx'
import { KeyPreview } from './key-preview.tsx'
import { proofFields } from './key-proofs.ts'
import { endOfDay, limitsIn, rightsIn } from './key-values.ts'

type Row = Field | { readonly heading: string; readonly hint?: string }

const isByPolicy = ({ by }: FormValues) => by === 'policies'
const isByRights = (values: FormValues) => !isByPolicy(values)

/** The fields of every key; `before` is the session that is changed, {} for a new one. */
export function keyFields(before: KeySession): readonly Row[] {
  return [
    {
      kind: 'choice',
      name: 'by',
      label: say('keys.accessBy'),
      hint: say('keys.accessHint'),
      choices: [
        { value: 'policies', label: say('keys.byPolicies') },
        { value: 'rights', label: say('keys.byRights') },
      ],
    },
    { ...policiesField(say('keys.policiesHint')), when: isByPolicy },
    {
      kind: 'part',
      name: 'rights',
      label: say('keys.rights'),
      when: isByRights,
      check: (_value, all) => (Object.keys(rightsIn(all)).length === 0 ? say('keys.rightsMissing') : undefined),
      draw: (form) => {
        const { error, onChange } = form.getInputProps('rights')
        return (
          <Input.Wrapper
            label={say('keys.rights')}
            description={say('keys.rightsHint')}
            error={error}
            labelElement="div"
          >
            <Box mt={6}>
              <RightsEditor
                value={rightsIn(form.values)}
                onChange={(rights: Rights) => onChange(JSON.stringify(rights))}
              />
            </Box>
          </Input.Wrapper>
        )
      },
    },
    {
      kind: 'part',
      name: 'limits',
      label: say('keys.limits'),
      when: isByRights,
      draw: (form) => (
        <Input.Wrapper label={say('keys.limits')} description={say('keys.limitsHint')} labelElement="div">
          <Box mt={6}>
            <LimitInputs
              value={limitsIn(form.values)}
              onChange={(limits) => form.setFieldValue('limits', JSON.stringify(limits))}
            />
          </Box>
        </Input.Wrapper>
      ),
    },
    { kind: 'part', name: 'preview', label: '', draw: (form) => <KeyPreview values={form.values} before={before} /> },
    ...proofFields(before),
    { heading: say('keys.about') },
    { kind: 'text', name: 'alias', label: say('keys.alias'), hint: say('keys.aliasHint') },
    {
      kind: 'date',
      name: 'expires',
      label: say('keys.expires'),
      hint: say('keys.expiresHint'),
      check: (day) => (isOver(String(day), before.expires ?? 0) ? say('keys.past') : undefined),
    },
    { kind: 'list', name: 'tags', label: say('keys.tags'), hint: say('keys.tagsHint') },
    pairsField('metadata', say('keys.metadata'), say('keys.metadataHint')),
  ]
}

/** A key that has expired already may be changed as it is. */
function isOver(day: string, before: number): boolean {
  const end = endOfDay(day) * 1000
  return end < Date.now() && end !== endOfDay('') && Math.abs(end / 1000 - before) > 86_400
}
