import { Code, Text } from '@mantine/core'
import type { AuditEntry } from '../../api/platform/audit.ts'
import { say } from '../../texts/say.ts'
import { count } from '../display/when.tsx'
import { actOf, type ChangedMember, membersChanged } from './history-sentence.ts'

const MOST_MEMBERS = 4

/** An entry of the history in a sentence: who did it, and from what to what. */
export function ChangeSentence({ entry, kind }: { readonly entry: AuditEntry; readonly kind: string }) {
  const act = actOf(entry.action)
  const members = membersChanged(entry, kind)
  const shown = members.slice(0, MOST_MEMBERS)
  return (
    <Text size="sm" component="div" className="wrap-anywhere">
      <Text span fw={600} inherit>
        <bdi>{entry.user || say('audit.itself')}</bdi>
      </Text>{' '}
      {verbOf(entry, act, members.length)}
      {act !== 'create' && act !== 'delete' && shown.map((member) => <Member key={member.name} member={member} />)}
      {members.length > shown.length && ` ${say('history.more', { count: count(members.length - shown.length) })}`}
    </Text>
  )
}

function verbOf({ action }: AuditEntry, act: ReturnType<typeof actOf>, members: number): string {
  if (act === 'other') return say('history.other', { action })
  if (act === 'update' && members === 0) return say('history.updateAll')
  return say(act === 'undo' && members > 0 ? 'history.undoOf' : `history.${act}`)
}

const MOST_CHARACTERS = 40

function Member({ member: { name, before, after } }: { readonly member: ChangedMember }) {
  const isShort = [before, after].every((value) => value === undefined || value.length <= MOST_CHARACTERS)
  return (
    <>
      {' '}
      <Code className="wrap-anywhere">{name}</Code>
      {isShort && (
        <Text span c="dimmed" inherit>
          {' '}
          <bdi>{before ?? '–'}</bdi> → <bdi>{after ?? '–'}</bdi>
        </Text>
      )}
    </>
  )
}
