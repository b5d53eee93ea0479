import { Badge, Box, Button, Group, Paper, SimpleGrid, Stack, Text, Textarea } from '@mantine/core'
import { useRef } from 'react'
import { useSession } from '../../api/people/session.ts'
import type { MailCopy, MailType, PortalSettings } from '../../api/portal/portal-settings.ts'
import type { Field, FormValues } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { PLACEHOLDERS, sampled } from './mail-placeholders.ts'
import { SettingsForm } from './settings-form.tsx'

type Form = Parameters<Extract<Field, { kind: 'part' }>['draw']>[0]

/** How one of the mails is worded, with what arrives beside it. */
export function MailForm({ sort, settings }: { readonly sort: MailType; readonly settings: PortalSettings }) {
  return (
    <SettingsForm
      settings={settings}
      members={['mail_options']}
      fields={fieldsOf(sort)}
      toForm={({ mail_options }) => ({ ...mail_options.email_copy[sort] }) as FormValues}
      fromForm={(values, { mail_options }) => ({
        mail_options: {
          ...mail_options,
          email_copy: {
            ...mail_options.email_copy,
            [sort]: { ...mail_options.email_copy[sort], ...(values as unknown as MailCopy) },
          },
        },
      })}
    />
  )
}

function fieldsOf(sort: MailType): readonly Field[] {
  const check = (value: unknown) => checkWords(sort, String(value))
  return [
    { kind: 'switch', name: 'enabled', label: say('portal.mailEnabled'), hint: say(`portal.mailHint.${sort}`) },
    {
      kind: 'text',
      name: 'subject',
      label: say('portal.subject'),
      placeholder: say(`portal.usual.${sort}.subject`),
      hint: say('portal.subjectHint'),
      check,
    },
    {
      kind: 'part',
      name: 'body',
      label: say('portal.body'),
      check,
      draw: (form, readOnly) => <Body sort={sort} form={form} readOnly={readOnly} />,
    },
    { kind: 'area', name: 'sign_off', rows: 2, label: say('portal.signOff'), check },
    ...(sort === 'key_email'
      ? [
          {
            kind: 'switch',
            name: 'hide_token_data',
            label: say('portal.hideToken'),
            hint: say('portal.hideTokenHint'),
          } as const,
        ]
      : []),
    { kind: 'part', name: 'preview', label: '', draw: (form) => <Preview sort={sort} form={form} /> },
  ]
}

function checkWords(sort: MailType, text: string): string | undefined {
  const known = PLACEHOLDERS[sort]
  const unknown = [...text.matchAll(/\{\{\s*([^{}]*?)\s*\}\}/g)].find(([, name]) => !known.includes(name!))
  return unknown && say('portal.unknownPlaceholder', { name: unknown[0], known: known.join(', ') })
}

function Body(props: { readonly sort: MailType; readonly form: Form; readonly readOnly: boolean }) {
  const { sort, form, readOnly } = props
  const area = useRef<HTMLTextAreaElement>(null)
  const { value, onChange, error } = form.getInputProps('body')
  const insert = (name: string) => {
    const text = String(value)
    const at = area.current?.selectionStart ?? text.length
    form.setFieldValue('body', `${text.slice(0, at)}{{${name}}}${text.slice(at)}`)
    area.current?.focus()
  }
  return (
    <Stack gap={6}>
      <Textarea
        ref={area}
        label={say('portal.body')}
        description={say('portal.bodyHint')}
        placeholder={say(`portal.usual.${sort}.body`)}
        autosize
        minRows={6}
        maxRows={20}
        dir="auto"
        disabled={readOnly}
        value={value}
        onChange={onChange}
        error={error}
      />
      <Group gap={6}>
        <Text size="xs" c="dimmed">
          {say('portal.insert')}
        </Text>
        {PLACEHOLDERS[sort].map((name) => (
          <Button
            key={name}
            variant="default"
            size="compact-xs"
            ff="monospace"
            disabled={readOnly}
            onClick={() => insert(name)}
          >
            {`{{${name}}}`}
          </Button>
        ))}
      </Group>
    </Stack>
  )
}

/** A preview of the mail, with a sample developer. */
function Preview({ sort, form }: { readonly sort: MailType; readonly form: Form }) {
  const organisation = useSession().organisation?.name ?? ''
  const { subject, body, sign_off: signOff, enabled } = form.values
  const shown = (text: unknown, usual: string) =>
    sampled(String(text).trim() === '' ? usual : String(text), organisation)
  return (
    <Box>
      <Group gap="xs" mb={6}>
        <Text size="sm" fw={600}>
          {say('portal.preview')}
        </Text>
        {enabled !== true && (
          <Badge variant="default" size="sm" tt="none">
            {say('portal.notSent')}
          </Badge>
        )}
      </Group>
      <Paper withBorder p="md" {...(enabled !== true && { opacity: 0.7 })}>
        <SimpleGrid cols={1} spacing="xs">
          <Text fw={600} className="wrap-anywhere" dir="auto">
            {shown(subject, say(`portal.usual.${sort}.subject`))}
          </Text>
          <Text size="sm" className="wrap-anywhere" style={{ whiteSpace: 'pre-wrap' }} dir="auto">
            {[shown(body, say(`portal.usual.${sort}.body`)), sampled(String(signOff), organisation)]
              .filter((part) => part.trim() !== '')
              .join('\n\n')}
          </Text>
        </SimpleGrid>
      </Paper>
      {sort !== 'welcome_email' && (
        <Text size="xs" c="dimmed" mt={4}>
          {say('portal.appended')}
        </Text>
      )}
    </Box>
  )
}
