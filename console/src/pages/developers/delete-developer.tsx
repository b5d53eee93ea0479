import { List, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { DEVELOPERS_KEY, type Developer, deleteDeveloper } from '../../api/portal/developers.ts'
import { KEY_REQUESTS_KEY, listKeyRequests } from '../../api/portal/key-requests.ts'
import { count } from '../../parts/display/when.tsx'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { say } from '../../texts/say.ts'

/** Asks before a developer goes, and says what goes too. */
export function DeleteDeveloper(props: {
  readonly developer: Developer
  readonly opened: boolean
  readonly onClose: () => void
}) {
  const { developer, opened } = props
  const navigate = useNavigate()
  const client = useQueryClient()
  const { data } = useQuery({
    queryKey: [...KEY_REQUESTS_KEY, 'of', developer.id],
    queryFn: ({ signal }) => listKeyRequests({ p: '-1', by_user: developer.id }, signal),
    enabled: opened,
  })
  const keys = Object.keys(developer.keys).length
  const apps = Object.values(developer.oauth_clients).reduce((sum, list) => sum + list.length, 0)
  const requests = data?.Data.length ?? 0
  const lines = [
    keys > 0 && say('portal.goKeys', { count: count(keys) }),
    apps > 0 && say('portal.goApps', { count: count(apps) }),
    requests > 0 && say('portal.goRequests', { count: count(requests) }),
  ].filter((line) => line !== false)
  return (
    <ConfirmDelete
      name={opened ? developer.email : undefined}
      depends={
        <Stack gap="xs">
          <Text size="sm">{say('portal.deleteDeveloperHint')}</Text>
          {lines.length > 0 && (
            <List size="sm">
              {lines.map((line) => (
                <List.Item key={line}>{line}</List.Item>
              ))}
            </List>
          )}
          <Text size="sm">{say('portal.analyticsStay')}</Text>
        </Stack>
      }
      run={() => deleteDeveloper(developer.id)}
      onDone={async () => {
        await navigate({ to: '/developers', replace: true })
        client.removeQueries({ queryKey: [...DEVELOPERS_KEY, 'one', developer.id] })
        await client.invalidateQueries({ queryKey: DEVELOPERS_KEY })
        await client.invalidateQueries({ queryKey: KEY_REQUESTS_KEY })
      }}
      onClose={props.onClose}
    />
  )
}
