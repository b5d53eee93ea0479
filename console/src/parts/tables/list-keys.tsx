import { Kbd, Modal, Stack, Switch, Table } from '@mantine/core'
import { type RefObject, useEffect, useState } from 'react'
import { say } from '../../texts/say.ts'

/** Set where the reader has switched single keys off (WCAG 2.1.4). */
const PLACE = 'gatehouse-single-keys'
const HELP = [
  ['J', 'list.keyNext'],
  ['K', 'list.keyPrevious'],
  ['X', 'list.keySelect'],
  ['Enter', 'list.keyOpen'],
  ['/', 'list.keySearch'],
  ['?', 'list.keyHelp'],
] as const

/** Keys of a list: `j` and `k` go through the links of its rows, `x` chooses one, `/` searches, `?` shows all keys. */
export function ListKeys({ frame }: { readonly frame: RefObject<HTMLElement | null> }) {
  const [isOpen, setOpen] = useState(false)
  const [isOn, setOn] = useState(() => localStorage.getItem(PLACE) !== 'off')
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (frame.current === null || !isPlain(event)) return
      if (event.key === '?') setOpen(true)
      else if (!isOn || !act(event.key, frame.current)) return
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [frame, isOn])
  return (
    <Modal
      opened={isOpen}
      onClose={() => setOpen(false)}
      title={say('list.keys')}
      closeButtonProps={{ 'aria-label': say('part.close') }}
    >
      <Stack>
        <Table aria-label={say('list.keys')}>
          <Table.Tbody>
            {HELP.map(([key, text]) => (
              <Table.Tr key={key}>
                <Table.Td w={90}>
                  <Kbd>{key}</Kbd>
                </Table.Td>
                <Table.Td>{say(text)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Switch
          label={say('list.keysOn')}
          checked={isOn}
          onChange={({ currentTarget: { checked } }) => {
            setOn(checked)
            if (checked) localStorage.removeItem(PLACE)
            else localStorage.setItem(PLACE, 'off')
          }}
        />
      </Stack>
    </Modal>
  )
}

/** True for a key that nobody types into a field or a dialog. */
function isPlain({ target, ctrlKey, metaKey, altKey, defaultPrevented, isComposing }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || defaultPrevented || isComposing) return false
  const over = [...document.querySelectorAll('[role="dialog"], [role="menu"]')]
  if (over.some((element) => element.checkVisibility())) return false
  if (!(target instanceof HTMLElement)) return true
  if (target instanceof HTMLInputElement) return target.type === 'checkbox'
  return !target.isContentEditable && target.closest('textarea, select, [role="textbox"]') === null
}

/** True where the key means something here. */
function act(key: string, frame: HTMLElement): boolean {
  if (key === '/') {
    const search = document.querySelector<HTMLInputElement>('main input[type="search"]')
    search?.focus()
    search?.select()
    return search !== null
  }
  const rows = [...frame.querySelectorAll<HTMLElement>('tbody tr')]
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  if (key === 'j' || key === 'k') {
    const next = rows[at === -1 ? 0 : at + (key === 'j' ? 1 : -1)]
    const link = next?.querySelector<HTMLElement>('a[href], .mantine-Anchor-root')
    link?.focus()
    return link !== null && link !== undefined
  }
  if (key !== 'x' || at === -1) return false
  const box = rows[at]!.querySelector<HTMLInputElement>('input[type="checkbox"]')
  box?.click()
  return box !== null
}
