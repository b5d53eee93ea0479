import { group, list, text, whole } from './leaves.ts'

/** `backup`: backups that a running server makes by itself. */
export const backupSettings = group({
  folder: text(
    '',
    'Folder that the server writes backups of the whole store into, by itself. Made where it is missing. In a cluster set it for one node. Empty: none are made.',
  ),
  interval_minutes: whole(
    1440,
    [1, 525_600],
    'Minutes between two backups. After a failure the next is tried within ten minutes.',
  ),
  keep: whole(7, [1, 10_000], 'How many backups stay in the folder; the oldest are deleted after each success.'),
  without: list('Parts of the store that they leave out: `analytics`, `audit`, `records`.', {
    pattern: '^(?:analytics|audit|records)$',
    allowed: 'analytics, audit or records',
  }),
})
