import { Box, Checkbox, Group, Input, Text } from '@mantine/core'
import { POLICY_STATES } from '../../api/access/policies.ts'
import { LimitInputs } from '../../parts/forms/limit-inputs.tsx'
import type { Field } from '../../parts/forms/record-form.tsx'
import { RightsEditor } from '../../parts/forms/rights-editor.tsx'
import { RightsTable } from '../../parts/tables/rights-table.tsx'
import { say } from '../../texts/say.ts'
import { limitsIn, PARTS, plainFields, rightsIn, stateIn } from './policy-values.ts'

/** The form of every policy. Its flags, numbers and texts come from `plainFields` of `policy-values.ts`. */
export function policyFields(readOnly: boolean): readonly Field[] {
  return [
    { kind: 'text', name: 'name', label: say('policies.name'), required: true },
    {
      kind: 'choice',
      name: 'state',
      label: say('policies.state'),
      choices: POLICY_STATES.map((value) => ({ value, label: say(`policies.state.${value}`) })),
    },
    {
      kind: 'part',
      name: 'stateHint',
      label: '',
      draw: ({ values }) => (
        <Text size="sm" c="dimmed" mt={-8}>
          {say(`policies.stateHint.${stateIn(values)}`)}
        </Text>
      ),
    },
    {
      kind: 'part',
      name: 'rights',
      label: say('policies.rights'),
      check: (_value, all) => (Object.keys(rightsIn(all)).length === 0 ? say('policies.rightsMissing') : undefined),
      draw: (form) => {
        const { error, onChange } = form.getInputProps('rights')
        const rights = rightsIn(form.values)
        return (
          <Input.Wrapper
            label={say('policies.rights')}
            description={say('policies.rightsHint')}
            error={error}
            labelElement="div"
          >
            <Box mt={6}>
              {readOnly ? (
                <RightsTable rights={rights} label={say('policies.rights')} isPlan />
              ) : (
                <RightsEditor value={rights} onChange={(next) => onChange(JSON.stringify(next))} />
              )}
            </Box>
          </Input.Wrapper>
        )
      },
    },
    {
      kind: 'part',
      name: 'limits',
      label: say('policies.limits'),
      draw: (form) => (
        <fieldset disabled={readOnly} className="plain-fieldset">
          <Text component="legend" size="sm" fw={600}>
            {say('policies.limits')}
          </Text>
          <Text size="xs" c="dimmed" mb={6}>
            {say('policies.limitsHint')}
          </Text>
          <LimitInputs
            value={limitsIn(form.values)}
            onChange={(limits) => form.setFieldValue('limits', JSON.stringify(limits))}
          />
        </fieldset>
      ),
    },
    { kind: 'switch', name: 'perApi', label: say('policies.perApi') },
    {
      kind: 'part',
      name: 'decides',
      label: say('policies.decides'),
      required: true,
      draw: (form) => (
        <Checkbox.Group
          label={say('policies.decides')}
          description={say('policies.decidesHint')}
          {...form.getInputProps('decides')}
        >
          <Group mt="xs">
            {PARTS.map((part) => (
              <Checkbox key={part} value={part} label={say(`policies.part.${part}`)} disabled={readOnly} />
            ))}
          </Group>
        </Checkbox.Group>
      ),
    },
    {
      kind: 'number',
      name: 'keyLifeDays',
      label: say('policies.keyLife'),
      hint: say('policies.keyLifeHint'),
      min: 0,
      unit: say('policies.keyLifeUnit'),
    },
    ...plainFields(),
  ]
}
