import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query'
import { isOutdated, type Tag, underTag } from '../../api/calls/call.ts'
import {
  CATALOGUE_KEY,
  type Catalogue,
  type CatalogueEntry,
  readCatalogue,
  saveCatalogue,
} from '../../api/portal/catalogue.ts'
import { notifyFault } from '../../parts/display/notify.ts'

type Edit = (entries: readonly CatalogueEntry[]) => readonly CatalogueEntry[]

const MOST_TRIES = 5
const QUICK_CHANGE = ['catalogue', 'quick change'] as const

/**
 * Changes the catalogue: the edit is made on what is stored now, and again where another was faster, so that it takes nobody's
 * change back. @throws CallError
 */
export function useCatalogueChange(): (edit: Edit) => Promise<void> {
  const client = useQueryClient()
  return async (edit) => show(client, await editStored(edit))
}

/** The same, shown at once; a failure is said, and the page shows again what is stored. */
export function useQuickChange(): (edit: Edit) => void {
  const client = useQueryClient()
  const { mutate } = useMutation({
    mutationKey: QUICK_CHANGE,
    mutationFn: async (edit: Edit) => {
      const next = await editStored(edit)
      // The shown values also hold the edits that wait behind this one: the last of them loads the stored values.
      if (client.isMutating({ mutationKey: QUICK_CHANGE }) === 1) await show(client, next)
    },
    scope: { id: 'catalogue' },
    onMutate: async (edit) => {
      await client.cancelQueries({ queryKey: CATALOGUE_KEY })
      client.setQueryData<Catalogue>(CATALOGUE_KEY, (shown) => shown && { ...shown, apis: edit(shown.apis) })
    },
    onError: (error) => {
      notifyFault(error)
      return client.invalidateQueries({ queryKey: CATALOGUE_KEY })
    },
  })
  return mutate
}

async function show(client: QueryClient, stored: Catalogue): Promise<void> {
  client.setQueryData(CATALOGUE_KEY, stored)
  await client.invalidateQueries({ queryKey: CATALOGUE_KEY })
}

async function editStored(edit: Edit): Promise<Catalogue> {
  const tag: Tag = new Map()
  for (let tries = 1; ; tries++) {
    const stored = await underTag(tag, () => readCatalogue())
    const next: Catalogue = { ...stored, apis: edit(stored.apis) }
    try {
      await underTag(tag, () => saveCatalogue(next))
      return next
    } catch (error) {
      if (!isOutdated(error) || tries === MOST_TRIES) throw error
    }
  }
}
