import { Button, Group, Input, Paper, Stack, TextInput } from '@mantine/core'
import { ArrowDownIcon, ArrowUpIcon, PlusIcon, XIcon } from 'lucide-react'
import type { MenuItem, PortalMenus } from '../../api/portal/portal-pages.ts'
import type { Field, FormValue } from '../../parts/forms/record-form.tsx'
import { IconButton } from '../../parts/portal/icon-button.tsx'
import { say } from '../../texts/say.ts'

/** A form holds the menus as one text: JSON of these, in order, also while two have the same name. */
interface Menu {
  readonly name: string
  readonly items: readonly MenuItem[]
}

/** The field that menus are edited by. */
export const MENUS_FIELD = 'menus'
const ELSEWHERE = 'https://portal.invalid/'

/** The menus as the form holds them. */
export function menusText(menus: PortalMenus['menus']): string {
  return JSON.stringify(Object.entries(menus).map(([name, items]): Menu => ({ name, items })))
}

/** The menus in the form. */
export function menusIn(text: FormValue | undefined): PortalMenus['menus'] {
  return Object.fromEntries(listIn(text).map(({ name, items }) => [name.trim(), items]))
}

/** A field of a form for the menus of the portal. */
export function menusField(readOnly: boolean): Field {
  return {
    kind: 'part',
    name: MENUS_FIELD,
    label: say('portal.menus'),
    check: checkMenus,
    draw: (form) => {
      const { value, error } = form.getInputProps(MENUS_FIELD)
      const change = (menus: readonly Menu[]) => form.setFieldValue(MENUS_FIELD, JSON.stringify(menus))
      return (
        <Input.Wrapper error={error}>
          <Menus menus={listIn(value)} readOnly={readOnly} onChange={change} />
        </Input.Wrapper>
      )
    },
  }
}

function listIn(text: FormValue | undefined): readonly Menu[] {
  return JSON.parse(String(text)) as Menu[]
}

function checkMenus(text: FormValue): string | undefined {
  const menus = listIn(text)
  const names = menus.map(({ name }) => name.trim())
  if (names.includes('')) return say('portal.menuNameless')
  if (new Set(names).size < names.length) return say('portal.menuTwice')
  const items = menus.flatMap((menu) => menu.items)
  if (items.some(({ title }) => title.trim() === '')) return say('portal.itemNameless')
  const wrong = items.find(({ url }) => !leadsSomewhere(url))
  return wrong && say('portal.itemAddressWrong', { title: wrong.title })
}

/** A path of the portal, a page of the web or a mail address: nothing that runs. */
function leadsSomewhere(url: string): boolean {
  const found = url.trim() === '' ? null : URL.parse(url, ELSEWHERE)
  return found !== null && /^(?:https?|mailto):$/.test(found.protocol)
}

function Menus(props: {
  readonly menus: readonly Menu[]
  readonly readOnly: boolean
  readonly onChange: (menus: readonly Menu[]) => void
}) {
  const { menus, readOnly, onChange } = props
  return (
    <Stack gap="md" mb={4}>
      {menus.map((menu, at) => (
        <OneMenu
          // biome-ignore lint/suspicious/noArrayIndexKey: menus are identified by their index alone while names are typed
          key={at}
          at={at}
          menu={menu}
          readOnly={readOnly}
          onChange={(to) => onChange(menus.with(at, to))}
          onRemove={() => onChange(menus.toSpliced(at, 1))}
        />
      ))}
      {!readOnly && <Add text={say('portal.addMenu')} run={() => onChange([...menus, { name: '', items: [] }])} />}
    </Stack>
  )
}

function OneMenu(props: {
  readonly at: number
  readonly menu: Menu
  readonly readOnly: boolean
  readonly onChange: (menu: Menu) => void
  readonly onRemove: () => void
}) {
  const { menu, readOnly } = props
  const { items } = menu
  const name = menu.name || props.at + 1
  const set = (next: readonly MenuItem[]) => props.onChange({ ...menu, items: next })
  return (
    <Paper withBorder p="sm">
      <Stack gap="xs">
        <Group gap={4} wrap="nowrap" align="flex-end">
          <TextInput
            flex={1}
            maw="20rem"
            label={say('portal.menuName', { at: props.at + 1 })}
            value={menu.name}
            maxLength={128}
            dir="auto"
            disabled={readOnly}
            onChange={({ currentTarget }) => props.onChange({ ...menu, name: currentTarget.value })}
          />
          {!readOnly && (
            <IconButton label={say('portal.removeMenu', { name })} run={props.onRemove}>
              <XIcon size={16} aria-hidden />
            </IconButton>
          )}
        </Group>
        {items.map((item, at) => (
          <Item
            // biome-ignore lint/suspicious/noArrayIndexKey: items are identified by their index alone while they are typed
            key={at}
            place={say('portal.itemAt', { at: at + 1, name })}
            item={item}
            readOnly={readOnly}
            isFirst={at === 0}
            isLast={at === items.length - 1}
            onChange={(to) => set(items.with(at, to))}
            onMove={(step) => set(items.toSpliced(at, 1).toSpliced(at + step, 0, item))}
            onRemove={() => set(items.toSpliced(at, 1))}
          />
        ))}
        {!readOnly && <Add text={say('portal.addItem')} run={() => set([...items, { title: '', url: '' }])} />}
      </Stack>
    </Paper>
  )
}

function Item(props: {
  readonly place: string
  readonly item: MenuItem
  readonly readOnly: boolean
  readonly isFirst: boolean
  readonly isLast: boolean
  readonly onChange: (item: MenuItem) => void
  readonly onMove: (step: 1 | -1) => void
  readonly onRemove: () => void
}) {
  const { item, place, readOnly, onChange } = props
  return (
    <Group gap={4} wrap="nowrap">
      <TextInput
        flex={1}
        miw={0}
        aria-label={say('portal.itemTitle', { place })}
        placeholder={say('portal.itemTitleHint')}
        value={item.title}
        maxLength={256}
        dir="auto"
        disabled={readOnly}
        onChange={({ currentTarget }) => onChange({ ...item, title: currentTarget.value })}
      />
      <TextInput
        flex={2}
        miw={0}
        aria-label={say('portal.itemAddress', { place })}
        placeholder={say('portal.itemAddressHint')}
        value={item.url}
        maxLength={2048}
        disabled={readOnly}
        onChange={({ currentTarget }) => onChange({ ...item, url: currentTarget.value })}
      />
      {!readOnly && (
        <>
          <IconButton
            label={say('portal.moveUp', { name: place })}
            disabled={props.isFirst}
            run={() => props.onMove(-1)}
          >
            <ArrowUpIcon size={16} aria-hidden />
          </IconButton>
          <IconButton
            label={say('portal.moveDown', { name: place })}
            disabled={props.isLast}
            run={() => props.onMove(1)}
          >
            <ArrowDownIcon size={16} aria-hidden />
          </IconButton>
          <IconButton label={say('portal.removeName', { name: place })} run={props.onRemove}>
            <XIcon size={16} aria-hidden />
          </IconButton>
        </>
      )}
    </Group>
  )
}

function Add({ text, run }: { readonly text: string; readonly run: () => void }) {
  return (
    <Group>
      <Button variant="default" size="xs" leftSection={<PlusIcon size={14} aria-hidden />} onClick={run}>
        {text}
      </Button>
    </Group>
  )
}
