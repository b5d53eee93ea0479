import type { Definition, Json } from '../../../api/apis/apis.ts'
import type { PlainField } from '../../../parts/forms/fields.ts'
import type { FormValue, FormValues } from '../../../parts/forms/form-values.ts'

/** A value of the form that the two formats write differently; it is read from the classic one. */
export interface Shapes {
  readonly read: (written: Json | undefined) => FormValue
  readonly toClassic: (value: FormValue) => Json
  readonly toOas: (value: FormValue) => Json
}

type Without<Union, Names extends PropertyKey> = Union extends unknown ? Omit<Union, Names> : never

/** A setting of a scheme: its field, its path in each format, and its default in the form. */
export interface Setting {
  readonly name: string
  /** Below the scheme. */
  readonly oas: string
  readonly classic: string
  readonly empty: FormValue
  readonly as?: Shapes
  /** How the form asks for it, with the texts `apiAuth.<name>` and `apiAuth.<name>Hint`; absent where the form has a separate part. */
  readonly field?: Without<PlainField, 'name' | 'label' | 'hint'>
}

/** Below what a scheme's settings are: a path in OpenAPI, or the top of a classic definition. */
export type SettingsRoot = readonly string[] | 'classic'

/** Several fields of the form that say together what some members hold. */
export interface SettingGroup {
  values(classic: Definition): FormValues
  write(tree: Definition, root: SettingsRoot, before: FormValues, values: FormValues): Definition
  /** The fields that show what is wrong at each place. */
  places(root: SettingsRoot, values: FormValues): (readonly [field: string, place: readonly string[]])[]
}

/** An authentication scheme as the console handles it. */
export interface SchemeForm {
  /** Switch of the classic format. */
  readonly on: string
  /** Member of `auth_configs` that says where the credential is; also the name of a new scheme of OpenAPI, and in `auth_types`. */
  readonly config: string
  /** Its name in `base_identity_provided_by`. */
  readonly identity: string
  /** Its name in sets of schemes. */
  readonly word: string
  /** How OpenAPI declares it; absent: it is a section of the extension. */
  readonly declared?: Definition
  /** A client certificate can replace the credential. */
  readonly takesCertificates?: true
  /** How "Try it" sends typed input: its prefix; absent where it cannot be typed. */
  readonly sent?: { readonly prefix: string; readonly isLogin?: true }
  /** Offered for a new API: its declaration, and settings besides the header. */
  readonly offer?: { readonly declared?: Definition; readonly settings?: Definition }
  readonly settings: readonly Setting[]
  readonly group?: SettingGroup
}
