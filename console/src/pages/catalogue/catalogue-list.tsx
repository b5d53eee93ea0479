import {
  type Announcements,
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core'
import {
  arrayMove,
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable'
import { ActionIcon, Badge, Box, Group, Paper, Stack, Switch, Text, UnstyledButton } from '@mantine/core'
import { GripVerticalIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import type { CatalogueEntry } from '../../api/portal/catalogue.ts'
import { say } from '../../texts/say.ts'
import { useQuickChange } from './catalogue-change.ts'
import { inOrder, keysOfEntries, withEntry } from './entries.ts'

/** Pixels that a pointer moves before it drags; less is a click. */
const DRAG_PX = 4

interface Props {
  readonly entries: readonly CatalogueEntry[]
  readonly chosen: string
  readonly onChoose: (key: string) => void
}

/** The entries in the order of the portal, to be dragged by mouse or keyboard. */
export function CatalogueList({ entries, chosen, onChoose }: Props) {
  const keys = keysOfEntries(entries)
  const change = useQuickChange()
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: DRAG_PX } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  )
  const drop = ({ active, over }: DragEndEvent) => {
    if (over === null || active.id === over.id) return
    const order = arrayMove(keys, keys.indexOf(String(active.id)), keys.indexOf(String(over.id)))
    change((stored) => inOrder(stored, order))
  }
  const nameAt = (id: string | number) => entries[keys.indexOf(String(id))]?.name ?? ''
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragEnd={drop}
      accessibility={{
        announcements: announcementsOf(nameAt, (id) => keys.indexOf(String(id)) + 1),
        screenReaderInstructions: { draggable: say('portal.dragHow') },
      }}
    >
      <SortableContext items={keys} strategy={verticalListSortingStrategy}>
        <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }} aria-label={say('shell.catalogue')}>
          {entries.map((entry, at) => (
            <Item
              key={keys[at]}
              id={keys[at]!}
              entry={entry}
              isChosen={keys[at] === chosen}
              onChoose={() => onChoose(keys[at]!)}
              onShow={(show) => change((stored) => withEntry(stored, keys[at]!, (one) => ({ ...one, show })))}
            />
          ))}
        </Stack>
      </SortableContext>
    </DndContext>
  )
}

function Item(props: {
  readonly id: string
  readonly entry: CatalogueEntry
  readonly isChosen: boolean
  readonly onChoose: () => void
  readonly onShow: (show: boolean) => void
}) {
  const { id, entry, isChosen } = props
  const may = useMay('portal', 'write')
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } = useSortable({
    id,
    disabled: !may,
  })
  return (
    <Box
      component="li"
      ref={setNodeRef}
      style={{
        ...(transform !== null && { transform: `translate3d(${transform.x}px, ${transform.y}px, 0)` }),
        transition,
        ...(isDragging && { zIndex: 2, position: 'relative' }),
      }}
    >
      <Paper
        withBorder
        px="xs"
        py={8}
        shadow={isDragging ? 'md' : 'none'}
        {...(isChosen && { style: { borderColor: 'var(--mantine-primary-color-filled)' } })}
      >
        <Group gap="xs" wrap="nowrap">
          {may && (
            <ActionIcon
              ref={setActivatorNodeRef}
              variant="subtle"
              color="gray"
              style={{ cursor: 'grab', touchAction: 'none' }}
              {...attributes}
              {...listeners}
              aria-label={say('portal.drag', { name: entry.name })}
            >
              <GripVerticalIcon size={18} aria-hidden />
            </ActionIcon>
          )}
          <UnstyledButton flex={1} miw={0} onClick={props.onChoose} aria-current={isChosen}>
            <Title entry={entry} />
          </UnstyledButton>
          <Switch
            aria-label={say('portal.showNamed', { name: entry.name })}
            checked={entry.show}
            disabled={!may}
            onChange={({ currentTarget }) => props.onShow(currentTarget.checked)}
          />
        </Group>
      </Paper>
    </Box>
  )
}

function Title({ entry }: { readonly entry: CatalogueEntry }) {
  return (
    <>
      <Group gap={6}>
        <Text size="sm" fw={600} lineClamp={1} dir="auto" className="wrap-anywhere">
          {entry.name || say('portal.unnamed')}
        </Text>
        {entry.is_keyless === true && (
          <Badge size="xs" variant="default" tt="none">
            {say('portal.keyless')}
          </Badge>
        )}
        {!entry.show && (
          <Badge size="xs" variant="default" tt="none">
            {say('portal.hidden')}
          </Badge>
        )}
      </Group>
      <Text size="xs" c="dimmed" lineClamp={1} dir="auto">
        {entry.short_description || say('portal.noShort')}
      </Text>
    </>
  )
}

function announcementsOf(
  nameAt: (id: string | number) => string,
  placeOf: (id: string | number) => number,
): Announcements {
  const moved = (id: string | number, over: string | number) =>
    say('portal.dragOver', { name: nameAt(id), place: placeOf(over) })
  return {
    onDragStart: ({ active }) => say('portal.dragStart', { name: nameAt(active.id) }),
    onDragOver: ({ active, over }) => (over === null ? undefined : moved(active.id, over.id)),
    onDragEnd: ({ active, over }) =>
      over === null ? say('portal.dragStop', { name: nameAt(active.id) }) : moved(active.id, over.id),
    onDragCancel: ({ active }) => say('portal.dragStop', { name: nameAt(active.id) }),
  }
}
