import { Alert, Box, Button, Code, Group, Radio, Stack, Switch, Table, Text, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { useSession } from '../../api/people/session.ts'
import { CUSTOM_PERMISSIONS_KEY, type Rights, readCustomPermissions } from '../../api/people/users.ts'
import { say } from '../../texts/say.ts'
import {
  type Choice,
  choiceOf,
  grantedPermissions,
  isAdministrator,
  type PermissionRow,
  permissionRows,
  withAdministrator,
  withChoice,
  withOwnAnalytics,
} from './rights.ts'

const CHOICES = ['none', 'read', 'write', 'deny'] as const
const ADMIN_CHOICES = ['none', 'deny'] as const
const SETTABLE = ['none', 'read', 'write'] as const
const NOTHING: Rights = {}

interface Props {
  readonly rights: Rights
  readonly onChange: (rights: Rights) => void
  readonly readOnly: boolean
  /** Groups make no administrators. */
  readonly isGroup?: boolean
}

/** One row for each permission: none, read, write, deny, and what it opens. */
export function PermissionMatrix({ rights, onChange, readOnly, isGroup = false }: Props) {
  const custom = useCustomPermissions()
  const rows = permissionRows(custom, rights)
  const isAdmin = !isGroup && isAdministrator(rights)
  const setAll = (choice: Choice) => onChange(rows.reduce((all, { key }) => withChoice(all, key, choice), rights))
  return (
    <Stack>
      {!isGroup && (
        <Switch
          label={say('permit.everything')}
          description={say('permit.everythingHint')}
          checked={isAdmin}
          disabled={readOnly}
          onChange={(event) => onChange(withAdministrator(rights, event.currentTarget.checked))}
        />
      )}
      {isGroup && (
        <Text size="sm" c="dimmed">
          {say('groups.noAdmin')}
        </Text>
      )}
      {!isAdmin && !readOnly && (
        <Group gap="xs">
          <Text size="sm">{say('permit.allTo')}</Text>
          {SETTABLE.map((choice) => (
            <Button key={choice} size="compact-sm" variant="default" onClick={() => setAll(choice)}>
              {say(`permit.${choice}`)}
            </Button>
          ))}
        </Group>
      )}
      <Matrix {...{ rows, rights, isAdmin, readOnly, onChange }} />
      <Text size="xs" c="dimmed">
        {say('permit.denyHint')}
      </Text>
      {!isAdmin && grantedPermissions(rights) === 0 && <Alert color="yellow">{say('permit.nothing')}</Alert>}
      {!isAdmin && (
        <Switch
          label={say('permit.ownAnalytics')}
          description={say('permit.ownAnalyticsHint')}
          checked={rights.owned_analytics === 'owned'}
          disabled={readOnly || rights.analytics !== 'read'}
          onChange={(event) => onChange(withOwnAnalytics(rights, event.currentTarget.checked))}
        />
      )}
      {!isGroup && (
        <Switch
          label={say('permit.reset')}
          description={say('permit.resetHint')}
          checked={rights.ResetPassword === 'admin'}
          disabled
          readOnly
        />
      )}
    </Stack>
  )
}

/** Custom permissions of the organisation: for administrators, nobody else may read them. */
function useCustomPermissions(): Rights {
  const { user } = useSession()
  const custom = useQuery({
    queryKey: CUSTOM_PERMISSIONS_KEY,
    queryFn: ({ signal }) => readCustomPermissions(signal),
    enabled: user.is_admin,
  })
  return custom.data ?? NOTHING
}

function Matrix(props: {
  readonly rows: readonly PermissionRow[]
  readonly rights: Rights
  readonly isAdmin: boolean
  readonly readOnly: boolean
  readonly onChange: (rights: Rights) => void
}) {
  const { isAdmin, rights } = props
  const choices: readonly Choice[] = isAdmin ? ADMIN_CHOICES : CHOICES
  const titleOf = (choice: Choice) => say(isAdmin && choice === 'none' ? 'permit.allowed' : `permit.${choice}`)
  return (
    <Table.ScrollContainer minWidth={0}>
      <Table aria-label={say('permit.matrix')} withRowBorders={false} verticalSpacing="xs" horizontalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{say('permit.permission')}</Table.Th>
            {choices.map((choice) => (
              <Table.Th key={choice} ta="center" w={{ base: 46, sm: 60 }} px={0}>
                {titleOf(choice)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {props.rows.map((row) => (
            <Fragment key={row.key}>
              <Table.Tr style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}>
                <Table.Th scope="row" fw="normal" ta="start">
                  <PermissionName row={row} />
                </Table.Th>
                {choices.map((choice) => (
                  <Table.Td key={choice} px={0}>
                    <Choose
                      {...{ row, choice }}
                      title={titleOf(choice)}
                      isChosen={isChosen(rights, row.key, choice, isAdmin)}
                      readOnly={props.readOnly}
                      onChoose={() => props.onChange(withChoice(rights, row.key, choice))}
                    />
                  </Table.Td>
                ))}
              </Table.Tr>
              {/* Beside the choices there is no room for it on a phone. */}
              <Table.Tr hiddenFrom="sm">
                <Table.Td colSpan={choices.length + 1} pt={0} c="dimmed" fz="xs">
                  {row.gives}
                </Table.Td>
              </Table.Tr>
            </Fragment>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function isChosen(rights: Rights, key: string, choice: Choice, isAdmin: boolean): boolean {
  const value = choiceOf(rights, key)
  return isAdmin && choice === 'none' ? value !== 'deny' : value === choice
}

function PermissionName({ row: { key, label, gives } }: { readonly row: PermissionRow }) {
  return (
    <Box className="wrap-anywhere">
      <Group gap={6}>
        <Text size="sm" fw={600} span>
          {label}
        </Text>
        <Code visibleFrom="sm">{key}</Code>
      </Group>
      <Text size="xs" c="dimmed" visibleFrom="sm">
        {gives}
      </Text>
    </Box>
  )
}

function Choose(props: {
  readonly row: PermissionRow
  readonly choice: Choice
  readonly title: string
  readonly isChosen: boolean
  readonly readOnly: boolean
  readonly onChoose: () => void
}) {
  const { row, choice } = props
  return (
    <Group justify="center">
      <Radio
        name={`right-${row.key}`}
        value={choice}
        checked={props.isChosen}
        disabled={props.readOnly}
        {...(choice === 'deny' && { color: 'red' })}
        onChange={props.onChoose}
        label={<VisuallyHidden>{`${row.label}: ${props.title}`}</VisuallyHidden>}
        styles={{ label: { padding: 0 } }}
      />
    </Group>
  )
}
