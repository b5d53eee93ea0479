import { Alert, Button, Code, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../api/people/session.ts'
import type { RequestRecord } from '../../api/traffic/requests.ts'
import { say } from '../../texts/say.ts'
import { ruleOf } from './refusal-rules.ts'

/** Why the gateway refused or what failed, the answer to its caller, and the way to the rule. */
export function Refusal({ record, onGo }: { readonly record: RequestRecord; readonly onGo: () => void }) {
  const { ErrorCode: code, ErrorBody: body, Latency: took } = record
  const rule = ruleOf(record)
  const may = { apis: useMay('apis'), keys: useMay('keys') }
  return (
    <Alert color="orange">
      <Stack gap="xs" align="flex-start">
        <Text size="sm" fw={650}>
          {say(took.Upstream === 0 ? 'requests.refused' : 'requests.failed', { code })}
        </Text>
        {body !== '' && (
          <>
            <Text size="sm">{say('requests.callerAnswer')}</Text>
            <Code block w="100%" tabIndex={0} aria-label={say('requests.callerAnswer')} className="wrap-anywhere">
              {body}
            </Code>
          </>
        )}
        {rule !== undefined && rule.link === undefined && <Text size="sm">{say(rule.text)}</Text>}
        {rule?.link !== undefined && may[rule.link.permission] && (
          <Button size="compact-sm" variant="default" component={Link} onClick={onGo} {...{ to: rule.link.to }}>
            {say(rule.text)}
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
