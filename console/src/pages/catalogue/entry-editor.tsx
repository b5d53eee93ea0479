import { Box, Button, Group, Paper, Tabs, Text, Title } from '@mantine/core'
import { ArrowLeftIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/people/session.ts'
import type { CatalogueEntry } from '../../api/portal/catalogue.ts'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { PolicyBadges, usePolicyNames } from '../../parts/portal/policy-names.tsx'
import { say } from '../../texts/say.ts'
import { useCatalogueChange } from './catalogue-change.ts'
import { withEntry } from './entries.ts'
import { EntryDocumentation } from './entry-documentation.tsx'
import { EntryRules } from './entry-rules.tsx'
import { EntryTexts } from './entry-texts.tsx'

/** An entry of the catalogue: its texts, its documentation, and what of the portal's settings it sets itself. */
export function EntryEditor(props: {
  readonly id: string
  readonly entry: CatalogueEntry
  readonly tab: string
  readonly onTab: (tab: string) => void
  readonly onClose: () => void
}) {
  const { id, entry } = props
  const nameOf = usePolicyNames([entry.policy_id])
  return (
    <Paper withBorder p={{ base: 'sm', sm: 'lg' }}>
      <Group justify="space-between" align="flex-start" mb="sm" wrap="nowrap">
        <Box miw={0} flex={1}>
          <Button
            hiddenFrom="md"
            variant="subtle"
            size="compact-sm"
            mb="xs"
            leftSection={<ArrowLeftIcon size={14} aria-hidden />}
            onClick={props.onClose}
          >
            {say('portal.toList')}
          </Button>
          <Title order={2} size="h4" className="wrap-anywhere" dir="auto" mb={4}>
            {entry.name || say('portal.unnamed')}
          </Title>
          {entry.policy_id === '' ? (
            <Text size="sm" c="dimmed" className="wrap-anywhere">
              {say('portal.keylessOf', { id: entry.api_id })}
            </Text>
          ) : (
            <PolicyBadges ids={[entry.policy_id]} nameOf={nameOf} />
          )}
        </Box>
        <Remove id={id} entry={entry} onDone={props.onClose} />
      </Group>
      <Tabs value={props.tab} onChange={(tab) => props.onTab(tab ?? '')} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="texts">{say('portal.texts')}</Tabs.Tab>
          <Tabs.Tab value="documentation">{say('portal.documentation')}</Tabs.Tab>
          {entry.is_keyless !== true && <Tabs.Tab value="rules">{say('portal.rules')}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="texts">
          <EntryTexts id={id} entry={entry} />
        </Tabs.Panel>
        <Tabs.Panel value="documentation">
          <EntryDocumentation id={id} entry={entry} />
        </Tabs.Panel>
        <Tabs.Panel value="rules">
          <EntryRules id={id} entry={entry} />
        </Tabs.Panel>
      </Tabs>
    </Paper>
  )
}

function Remove(props: { readonly id: string; readonly entry: CatalogueEntry; readonly onDone: () => void }) {
  const [asked, setAsked] = useState(false)
  const change = useCatalogueChange()
  if (!useMay('portal', 'write')) return null
  return (
    <>
      <Button
        variant="subtle"
        color="red"
        size="compact-sm"
        flex="none"
        leftSection={<Trash2Icon size={14} aria-hidden />}
        onClick={() => setAsked(true)}
      >
        {say('portal.remove')}
      </Button>
      <ConfirmDelete
        name={asked ? props.entry.name || say('portal.unnamed') : undefined}
        verb={say('portal.remove')}
        depends={<Text size="sm">{say('portal.removeHint')}</Text>}
        run={() => change((entries) => withEntry(entries, props.id, () => undefined))}
        onDone={() => {
          setAsked(false)
          props.onDone()
        }}
        onClose={() => setAsked(false)}
      />
    </>
  )
}
