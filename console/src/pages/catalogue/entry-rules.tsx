import { useMay } from '../../api/people/session.ts'
import type { CatalogueEntry, EntryConfiguration } from '../../api/portal/catalogue.ts'
import { type Field, type FormValues, RecordForm } from '../../parts/forms/record-form.tsx'
import { checkWebAddress } from '../../parts/portal/checks.ts'
import { useEdited } from '../../parts/portal/edited.ts'
import { say } from '../../texts/say.ts'
import { asFields, namesField, namesOf } from '../developers/names-input.tsx'
import { useCatalogueChange } from './catalogue-change.ts'
import { withEntry } from './entries.ts'
import { storedEntry } from './entry-texts.tsx'

/** The overrides of an entry for the portal's settings. */
export function EntryRules({ id, entry }: { readonly id: string; readonly entry: CatalogueEntry }) {
  const may = useMay('portal', 'write')
  const change = useCatalogueChange()
  const edited = useEdited(entry.config, async () => (await storedEntry(id)).config)
  const { loaded } = edited
  return (
    <>
      {edited.dialog}
      <RecordForm
        key={edited.round}
        fields={FIELDS}
        initial={{
          override: loaded.override === true,
          key_request_fields: namesOf(loaded.key_request_fields ?? []),
          require_key_approval: loaded.require_key_approval === true,
          redirect_on_key_request: loaded.redirect_on_key_request === true,
          redirect_to: loaded.redirect_to ?? '',
        }}
        readOnly={!may}
        done=""
        guarded
        submit={(values) =>
          edited.save(configurationOf(values, loaded), (config) =>
            change((entries) => withEntry(entries, id, (stored) => ({ ...stored, config }))),
          )
        }
      />
    </>
  )
}

const overrides = (values: FormValues) => values.override === true

const FIELDS: readonly Field[] = [
  { kind: 'switch', name: 'override', label: say('portal.override'), hint: say('portal.overrideHint') },
  namesField('key_request_fields', say('portal.requestFields'), say('portal.requestFieldsHint'), { when: overrides }),
  {
    kind: 'switch',
    name: 'require_key_approval',
    label: say('portal.approval'),
    hint: say('portal.approvalHint'),
    when: overrides,
  },
  {
    kind: 'switch',
    name: 'redirect_on_key_request',
    label: say('portal.redirects'),
    hint: say('portal.redirectsHint'),
    when: overrides,
  },
  {
    kind: 'url',
    name: 'redirect_to',
    label: say('portal.redirectTo'),
    required: true,
    check: checkWebAddress,
    when: (values) => overrides(values) && values.redirect_on_key_request === true,
  },
]

function configurationOf(values: FormValues, loaded: EntryConfiguration): EntryConfiguration {
  if (!overrides(values)) return { ...loaded, override: false }
  return {
    ...loaded,
    override: true,
    key_request_fields: asFields(values.key_request_fields as readonly string[], loaded.key_request_fields ?? []),
    require_key_approval: values.require_key_approval === true,
    redirect_on_key_request: values.redirect_on_key_request === true,
    redirect_to: String(values.redirect_to),
  }
}
