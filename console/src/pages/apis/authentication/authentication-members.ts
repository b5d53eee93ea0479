import type { Definition, Json } from '../../../api/apis/apis.ts'
import type { FormValue, FormValues } from '../../../parts/forms/form-values.ts'
import { at, written } from '../editor/tree.ts'
import type { Setting, SettingsRoot } from './scheme-setting.ts'
import { PROOFS, type Proof, schemeForm } from './schemes.ts'

const path = (words: string) => words.split('.')
const isSameValue = (a: FormValue | undefined, b: FormValue | undefined) => JSON.stringify(a) === JSON.stringify(b)

/** The form values of all schemes' settings. */
export function memberValues(classic: Definition): FormValues {
  const read = ({ name, classic: words, empty, as }: Setting) => {
    const written = at(classic, path(words))
    return [name, as === undefined ? plain(written, empty) : as.read(written)] as const
  }
  const forms = PROOFS.map(schemeForm)
  const values = Object.fromEntries(forms.flatMap(({ settings }) => settings.map(read)))
  return Object.assign(values, ...forms.map(({ group }) => group?.values(classic)))
}

function plain(written: Json | undefined, empty: FormValue): FormValue {
  if (Array.isArray(empty)) return Array.isArray(written) ? written.map(String) : empty
  // A bound of 0, and one of -1 in definitions of other products, is none.
  if (empty === '' && typeof written === 'number') return written <= 0 ? '' : written
  return (typeof written === 'string' && written !== '') || typeof written === 'boolean' ? written : empty
}

/**
 * The tree with what differs in the form of the settings of a proof: below `root` in OpenAPI, from the top in the classic format.
 * Empty fields are removed, so that the default applies.
 */
export function withMembers(
  tree: Definition,
  proof: Proof,
  root: SettingsRoot,
  { before, values }: { readonly before: FormValues; readonly values: FormValues },
): Definition {
  let next = tree
  const { settings, group } = schemeForm(proof)
  for (const { name, oas, classic, empty, as } of settings) {
    const value = values[name]
    if (isSameValue(value, before[name])) continue
    const place = root === 'classic' ? path(classic) : [...root, ...path(oas)]
    const isEmpty = value === undefined || isSameValue(value, empty)
    const shaped = isEmpty || as === undefined ? value : root === 'classic' ? as.toClassic(value) : as.toOas(value)
    next = written(next, place, isEmpty ? undefined : (shaped as Json))
  }
  return group === undefined ? next : group.write(next, root, before, values)
}

/** Each field of a method with the path of its setting, below `root` in OpenAPI and from the top in the classic format. */
export function memberPlaces(
  proof: Proof,
  root: SettingsRoot,
  values: FormValues,
): (readonly [field: string, place: readonly string[]])[] {
  const base = root === 'classic' ? [] : root
  const { settings, group } = schemeForm(proof)
  const rows = settings.map(
    ({ name, oas, classic }) => [name, [...base, ...path(root === 'classic' ? classic : oas)]] as const,
  )
  return [...rows, ...(group?.places(root, values) ?? [])]
}

/** The list of certificates that are let in at all, in the words of each format. */
const LET_IN = {
  oas: { on: ['server', 'clientCertificates', 'enabled'], ids: ['server', 'clientCertificates', 'allowlist'] },
  classic: { on: ['use_mutual_tls_auth'], ids: ['client_certificates'] },
} as const

/** The form values of the allowed certificates. */
export function letInValues(classic: Definition): FormValues {
  const { on, ids } = LET_IN.classic
  return { letIn: at(classic, on) === true, letInIds: plain(at(classic, ids), []) }
}

/** The tree with the certificates that are let in: below `root` in OpenAPI, from the top in the classic format. */
export function withLetIn(tree: Definition, root: SettingsRoot, values: FormValues): Definition {
  const { on, ids } = LET_IN[root === 'classic' ? 'classic' : 'oas']
  const base = root === 'classic' ? [] : root
  const list = Array.isArray(values.letInIds) ? [...values.letInIds] : []
  const isOn = values.letIn === true
  const next = written(tree, [...base, ...on], isOn || at(tree, [...base, ...on]) !== undefined ? isOn : undefined)
  return written(next, [...base, ...ids], list.length > 0 ? list : undefined)
}
