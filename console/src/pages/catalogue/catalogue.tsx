import { Grid, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { BookOpenIcon, MousePointerClickIcon } from 'lucide-react'
import { CATALOGUE_KEY, type CatalogueEntry, readCatalogue } from '../../api/portal/catalogue.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { say } from '../../texts/say.ts'
import { AddEntry } from './add-entry.tsx'
import { CatalogueList } from './catalogue-list.tsx'
import { keysOfEntries } from './entries.ts'
import { EntryEditor } from './entry-editor.tsx'

const ABSENT = { entry: '', tab: 'texts' }

/** The catalogue: the list in its order, next to the selected entry. */
export default function CataloguePage() {
  return (
    <Guarded permission="portal" title={say('shell.catalogue')}>
      <Catalogue />
    </Guarded>
  )
}

function Catalogue() {
  const { data, error, refetch } = useQuery({
    queryKey: CATALOGUE_KEY,
    queryFn: ({ signal }) => readCatalogue(signal),
  })
  return (
    <>
      <PageHead title={say('shell.catalogue')} hint={say('portal.catalogueHint')}>
        <AddEntry entries={data?.apis ?? []} />
      </PageHead>
      <FaultBox error={error} retry={refetch} />
      {data === undefined ? error === null && <Skeleton h={320} /> : <Shown entries={data.apis} />}
    </>
  )
}

function Shown({ entries }: { readonly entries: readonly CatalogueEntry[] }) {
  const [address, setAddress] = useAddress(ABSENT)
  const keys = keysOfEntries(entries)
  const at = keys.indexOf(address.entry)
  const entry = entries[at]
  if (entries.length === 0)
    return (
      <Empty icon={BookOpenIcon} title={say('portal.emptyCatalogue')} hint={say('portal.emptyCatalogueHint')}>
        <AddEntry entries={entries} />
      </Empty>
    )
  const list = (
    <CatalogueList
      entries={entries}
      chosen={address.entry}
      onChoose={(key) => setAddress({ entry: key, tab: address.tab })}
    />
  )
  const editor = entry && (
    <EntryEditor
      key={keys[at]}
      id={keys[at]!}
      entry={entry}
      tab={address.tab}
      onTab={(tab) => setAddress({ tab })}
      onClose={() => setAddress({ entry: '', tab: '' })}
    />
  )
  // Where there is no room for both, one hides the other; input is kept at any width.
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 4 }} {...(entry && { visibleFrom: 'md' })}>
        {list}
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 8 }} {...(!entry && { visibleFrom: 'md' })}>
        {editor ?? (
          <Empty
            icon={MousePointerClickIcon}
            title={say('portal.chooseEntry')}
            hint={
              <Text span inherit>
                {say('portal.chooseEntryHint')}
              </Text>
            }
          />
        )}
      </Grid.Col>
    </Grid>
  )
}
