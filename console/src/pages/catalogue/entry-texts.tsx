import { Box, Paper, SimpleGrid, Text, Textarea } from '@mantine/core'
import { useMay } from '../../api/people/session.ts'
import { type CatalogueEntry, readCatalogue } from '../../api/portal/catalogue.ts'
import { type Field, RecordForm } from '../../parts/forms/record-form.tsx'
import { useEdited } from '../../parts/portal/edited.ts'
import { say } from '../../texts/say.ts'
import { pairsField, pairsOf, textsOf } from '../developers/pairs-input.tsx'
import { useCatalogueChange } from './catalogue-change.ts'
import { entryNamed, withEntry } from './entries.ts'
import { RenderedMarkdown } from './markdown.tsx'

type Texts = Pick<CatalogueEntry, 'name' | 'short_description' | 'long_description' | 'fields'>

/** The texts of an entry for developers. */
export function EntryTexts({ id, entry }: { readonly id: string; readonly entry: CatalogueEntry }) {
  const may = useMay('portal', 'write')
  const change = useCatalogueChange()
  const edited = useEdited(textsIn(entry), async () => textsIn(await storedEntry(id)))
  const { loaded } = edited
  return (
    <>
      {edited.dialog}
      <RecordForm
        key={edited.round}
        fields={FIELDS}
        initial={{ ...loaded, fields: pairsOf(loaded.fields) }}
        readOnly={!may}
        done=""
        guarded
        submit={(values) =>
          edited.save(
            {
              name: String(values.name).trim(),
              short_description: String(values.short_description),
              long_description: String(values.long_description),
              fields: textsOf(values.fields),
            },
            (mine) => change((entries) => withEntry(entries, id, (stored) => ({ ...stored, ...mine }))),
          )
        }
      />
    </>
  )
}

/** The stored entry. @throws Error when it was removed */
export async function storedEntry(id: string): Promise<CatalogueEntry> {
  const entry = entryNamed((await readCatalogue()).apis, id)
  if (entry === undefined) throw new Error(say('portal.entryGone'))
  return entry
}

const LONG: Field = {
  kind: 'part',
  name: 'long_description',
  label: say('portal.long'),
  draw: (form, readOnly) => {
    const { value, onChange, error } = form.getInputProps('long_description')
    return (
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
        <Textarea
          label={say('portal.long')}
          description={say('portal.longHint')}
          autosize
          minRows={10}
          maxRows={24}
          maxLength={65_536}
          disabled={readOnly}
          dir="auto"
          value={value}
          onChange={onChange}
          error={error}
        />
        <Box miw={0}>
          <Text size="sm" fw={600}>
            {say('portal.preview')}
          </Text>
          <Text size="xs" c="dimmed" mb={5}>
            {say('portal.previewHint')}
          </Text>
          <Paper withBorder p="sm" mih="14.5rem">
            {String(value).trim() === '' ? (
              <Text size="sm" c="dimmed">
                {say('portal.previewEmpty')}
              </Text>
            ) : (
              <RenderedMarkdown text={String(value)} />
            )}
          </Paper>
        </Box>
      </SimpleGrid>
    )
  },
}

const FIELDS: readonly Field[] = [
  { kind: 'text', name: 'name', label: say('portal.entryName'), required: true },
  { kind: 'area', name: 'short_description', rows: 2, label: say('portal.short'), hint: say('portal.shortHint') },
  LONG,
  pairsField('fields', say('portal.entryFields'), say('portal.entryFieldsHint')),
]

function textsIn({ name, short_description, long_description, fields }: CatalogueEntry): Texts {
  return { name, short_description, long_description, fields }
}
