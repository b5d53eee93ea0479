import { Modal } from '@mantine/core'
import { isRecord } from '../../api/calls/call.ts'
import { createPortalPage, type PortalPage, readPortalPage, replacePortalPage } from '../../api/portal/portal-pages.ts'
import { GuardedForm } from '../../parts/forms/guarded-form.tsx'
import { type Field, type FormValue, type FormValues, RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'

const NEW: PortalPage = { id: '', title: '', slug: '', is_homepage: false, template_name: '', fields: {} }
const LONGEST = 256
const LONGEST_TEMPLATE = 128
/** The form of a path below the portal. */
const SLUG = /^\/$|^\/?(?!\.+(?:\/|$))[A-Za-z0-9._~-]+(?:\/(?!\.+(?:\/|$))[A-Za-z0-9._~-]+)*\/?$/

/** Makes a page of the portal or changes one. */
export function PageDialog(props: {
  /** undefined keeps the dialog closed. */
  readonly page: PortalPage | 'new' | undefined
  readonly onDone: () => unknown
  readonly onClose: () => void
}) {
  const { page, onClose } = props
  const done = () => {
    onClose()
    void props.onDone()
  }
  return (
    <Modal
      opened={page !== undefined}
      onClose={onClose}
      size="lg"
      title={say(page === 'new' ? 'portal.addPage' : 'portal.editPage')}
    >
      {page === 'new' && (
        <RecordForm
          fields={FIELDS}
          initial={valuesOf(NEW)}
          verb={say('portal.addPage')}
          done={say('portal.pageAdded')}
          submit={(values) => {
            const { id: _id, ...made } = pageIn(values, NEW)
            return createPortalPage(made)
          }}
          onDone={done}
          onCancel={onClose}
        />
      )}
      {page !== undefined && page !== 'new' && (
        <GuardedForm<PortalPage>
          fields={FIELDS}
          stored={page}
          valuesOf={valuesOf}
          changed={pageIn}
          read={() => readPortalPage(page.id)}
          write={replacePortalPage}
          onDone={done}
          onCancel={onClose}
        />
      )}
    </Modal>
  )
}

const FIELDS: readonly Field[] = [
  { kind: 'text', name: 'title', label: say('portal.pageTitle'), required: true, check: atMost(LONGEST) },
  {
    kind: 'text',
    name: 'slug',
    label: say('portal.slug'),
    hint: say('portal.slugHint'),
    placeholder: 'guides/first-steps',
    required: true,
    check: (value) => (SLUG.test(String(value).trim()) ? atMost(LONGEST)(value) : say('portal.slugWrong')),
  },
  { kind: 'switch', name: 'is_homepage', label: say('portal.isHomePage'), hint: say('portal.isHomePageHint') },
  {
    kind: 'text',
    name: 'template_name',
    label: say('portal.template'),
    hint: say('portal.templateHint'),
    check: atMost(LONGEST_TEMPLATE),
  },
  {
    kind: 'area',
    name: 'fields',
    rows: 6,
    isCode: true,
    label: say('portal.pageFields'),
    hint: say('portal.pageFieldsHint'),
    required: true,
    check: (value) => (fieldsIn(value) === undefined ? say('portal.pageFieldsWrong') : undefined),
  },
]

function atMost(most: number) {
  return (value: FormValue) => (String(value).length > most ? say('part.tooLong', { most }) : undefined)
}

function valuesOf({ title, slug, is_homepage, template_name, fields }: PortalPage): FormValues {
  return { title, slug, is_homepage, template_name, fields: JSON.stringify(fields, undefined, 2) }
}

function pageIn(values: FormValues, loaded: PortalPage): PortalPage {
  return {
    ...loaded,
    title: String(values.title).trim(),
    slug: String(values.slug).trim(),
    is_homepage: values.is_homepage === true,
    template_name: String(values.template_name).trim(),
    fields: fieldsIn(values.fields) ?? loaded.fields,
  }
}

function fieldsIn(text: FormValue | undefined): PortalPage['fields'] | undefined {
  try {
    const value: unknown = JSON.parse(String(text))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
