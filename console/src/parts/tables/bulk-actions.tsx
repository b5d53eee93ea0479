import { ActionIcon, Button, Group, List, Menu, Modal, Paper, Progress, Stack, Text, TextInput } from '@mantine/core'
import { EllipsisIcon } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { say } from '../../texts/say.ts'
import { faultText } from '../display/fault-box.tsx'
import { notifyDone } from '../display/notify.ts'
import { count } from '../display/when.tsx'
import { type BulkFailure, runOnEach } from './bulk-run.ts'
import type { Selection } from './selection.ts'

/** An act on the chosen rows of a list, and on a single one from its menu. */
export interface BulkAction<Row> {
  readonly name: string
  readonly label: string
  /** The effect on each of them, in words. */
  readonly hint: ReactNode
  /** It cannot be taken back: the reader types how many, or which. */
  readonly isGrave?: boolean
  /** Fields for what the act needs; `set` takes their value, undefined while it is not whole. */
  readonly ask?: (set: (input: unknown) => void) => ReactNode
  /** @throws Error with the reason, as text for people */
  readonly run: (row: Row, input: unknown) => Promise<unknown>
  /** Called with the answers of those that succeeded. */
  readonly finish?: (answers: readonly unknown[]) => void
}

interface Asked<Row> {
  readonly action: BulkAction<Row>
  readonly rows: readonly Row[]
}

/** The actions of a list: a bar above it for the chosen rows, a menu for each row, and the dialog of both. */
export interface BulkActions<Row> {
  readonly bar: ReactNode
  readonly menu: (row: Row) => ReactNode
}

/** Joins actions with the selection of a list. `onDone` is called after something was done. */
export function useBulkActions<Row>(list: {
  readonly selection: Selection<Row>
  readonly actions: readonly BulkAction<Row>[]
  readonly nameOf: (row: Row) => string
  readonly onDone: () => void
}): BulkActions<Row> {
  const { selection, actions, nameOf } = list
  const [asked, setAsked] = useState<Asked<Row>>()
  const chosen = [...selection.chosen.values()]
  const bar = (
    <>
      {chosen.length > 0 && actions.length > 0 && (
        <Paper withBorder p="xs" role="region" aria-label={say('list.chosen')}>
          <Group gap="xs">
            <Text size="sm" fw={600} aria-live="polite">
              {say('list.selected', { count: count(chosen.length) })}
            </Text>
            {actions.map((action) => (
              <Button
                key={action.name}
                size="compact-sm"
                variant="default"
                {...(action.isGrave && { c: 'red' })}
                onClick={() => setAsked({ action, rows: chosen })}
              >
                {action.label}
              </Button>
            ))}
            <Button size="compact-sm" variant="subtle" onClick={() => selection.replace([])}>
              {say('list.clear')}
            </Button>
          </Group>
        </Paper>
      )}
      <BulkDialog
        asked={asked}
        nameOf={nameOf}
        keyOf={selection.keyOf}
        onClose={() => setAsked(undefined)}
        onOver={(failed) => {
          const keys = new Set(asked?.rows)
          const others = chosen.filter((row) => !keys.has(row))
          selection.replace([...others, ...failed.filter((row) => chosen.includes(row))])
          list.onDone()
        }}
      />
    </>
  )
  const menu = (row: Row) =>
    actions.length > 0 && (
      <Menu position="bottom-end" withArrow>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={say('list.actionsOf', { name: nameOf(row) })}>
            <EllipsisIcon size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {actions.map((action) => (
            <Menu.Item
              key={action.name}
              {...(action.isGrave && { color: 'red' })}
              onClick={() => setAsked({ action, rows: [row] })}
            >
              {action.label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    )
  return { bar, menu }
}

interface DialogProps<Row> {
  readonly keyOf: (row: Row) => string
  readonly nameOf: (row: Row) => string
  /** Called with the rows that nothing was done to. */
  readonly onOver: (failed: readonly Row[]) => void
  readonly onClose: () => void
}

function BulkDialog<Row>({ asked, ...props }: DialogProps<Row> & { readonly asked: Asked<Row> | undefined }) {
  const [isRunning, setRunning] = useState(false)
  const title = asked && `${asked.action.label}: ${objectOf(asked, props.nameOf)}`
  return (
    <Modal
      opened={asked !== undefined}
      onClose={props.onClose}
      title={title}
      closeOnClickOutside={!isRunning}
      closeOnEscape={!isRunning}
      withCloseButton={!isRunning}
      closeButtonProps={{ 'aria-label': say('part.close') }}
    >
      {asked !== undefined && <Act {...props} asked={asked} onRunning={setRunning} />}
    </Modal>
  )
}

/** A single row by its name, several by their number. */
function objectOf<Row>({ rows }: Asked<Row>, nameOf: (row: Row) => string): string {
  return rows.length === 1 ? nameOf(rows[0]!) : say('list.selected', { count: count(rows.length) })
}

function Act<Row>(
  props: DialogProps<Row> & { readonly asked: Asked<Row>; readonly onRunning: (isRunning: boolean) => void },
) {
  const { asked, keyOf, nameOf, onClose } = props
  const { action, rows } = asked
  const [input, setInput] = useState<unknown>()
  const [typed, setTyped] = useState('')
  const [done, setDone] = useState<number>()
  const [failures, setFailures] = useState<readonly BulkFailure<Row>[]>()
  const stop = useRef<AbortController>(undefined)
  const word = rows.length === 1 ? nameOf(rows[0]!) : String(rows.length)
  const isConfirmed = !action.isGrave || typed.normalize().trim() === word.normalize().trim()
  const mayRun = isConfirmed && (action.ask === undefined || input !== undefined)

  const run = async () => {
    const controller = new AbortController()
    stop.current = controller
    setDone(0)
    props.onRunning(true)
    const { signal } = controller
    const outcome = await runOnEach(rows, (row) => action.run(row, input), { signal, onProgress: setDone })
    props.onRunning(false)
    if (outcome.answers.length > 0) action.finish?.(outcome.answers)
    props.onOver([...outcome.failures.map(({ row }) => row), ...outcome.left])
    if (outcome.answers.length > 0)
      notifyDone(say('list.done', { action: action.label, count: count(outcome.answers.length) }))
    if (outcome.failures.length === 0) onClose()
    else setFailures(outcome.failures)
  }
  if (failures !== undefined)
    return (
      <Stack>
        <Text size="sm" role="alert">
          {say('list.failed', { failed: count(failures.length), total: count(rows.length) })}
        </Text>
        <List size="sm" mah="40vh" style={{ overflow: 'auto' }}>
          {failures.map(({ row, error }) => (
            <List.Item key={keyOf(row)} className="wrap-anywhere">
              <b dir="auto">{nameOf(row)}</b>: {faultText(error)}
            </List.Item>
          ))}
        </List>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {say('part.close')}
          </Button>
        </Group>
      </Stack>
    )
  if (done !== undefined)
    return (
      <Stack>
        <Text size="sm">{say('list.progress', { done: count(done), total: count(rows.length) })}</Text>
        <Progress value={(100 * done) / rows.length} aria-label={action.label} />
        <Group justify="flex-end">
          <Button variant="default" onClick={() => stop.current?.abort()}>
            {say('list.stop')}
          </Button>
        </Group>
      </Stack>
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (mayRun) void run()
      }}
    >
      <Stack>
        <Text size="sm" component="div">
          {action.hint}
        </Text>
        {rows.length > 1 && <Names {...props} rows={rows} />}
        {action.ask?.(setInput)}
        {action.isGrave && (
          <TextInput
            label={say('part.typeName', { name: word })}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {say('part.cancel')}
          </Button>
          <Button type="submit" disabled={!mayRun} {...(action.isGrave && { color: 'red' })}>
            {action.label}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const SHOWN_NAMES = 5

function Names<Row>({ rows, keyOf, nameOf }: DialogProps<Row> & { readonly rows: readonly Row[] }) {
  const more = rows.length - SHOWN_NAMES
  return (
    <List size="sm">
      {rows.slice(0, SHOWN_NAMES).map((row) => (
        <List.Item key={keyOf(row)} className="wrap-anywhere">
          {nameOf(row)}
        </List.Item>
      ))}
      {more > 0 && <List.Item>{say('list.more', { count: count(more) })}</List.Item>}
    </List>
  )
}
