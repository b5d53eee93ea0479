import { fault, toFault } from '../../errors/fault.ts'
import { toEmail } from '../../model/people/user.ts'
import type { Change } from '../../store/ports/ports.ts'
import { auditOf, type SecretParts, withLock } from '../documents/parts.ts'
import { prepareUser, type SavedUser } from '../people/users.ts'
import { closeSetup, isSetupToken, readInstallation, setupToken } from './installation.ts'
import { prepareOrganisation } from './organisations.ts'

/** The first organisation and the first user, as set-up asks for them. */
export interface SetUp {
  /** Name of the organisation. One of that name that is there already is taken. */
  readonly organisation: string
  readonly email: string
  readonly password: string
  readonly firstName: string
  readonly lastName: string
}

/**
 * Makes the first organisation and the first user, an administrator, in one commit, and closes the set-up link: a second caller
 * is refused. @throws Fault `setup_closed` (403) for a wrong or closed link, `setup_invalid`, `organisation_invalid`,
 * `password_invalid` (400), `passwords_busy` (503)
 */
export async function setUp(
  parts: SecretParts,
  token: string,
  wanted: SetUp,
): Promise<SavedUser & { readonly accessKey: string }> {
  // Before anything that costs time.
  if (!isSetupToken(await readInstallation(parts), token)) throw fault('setup_closed')
  const email = toEmail(wanted.email)
  if (email === undefined) throw fault('setup_invalid', 'email: must be an email address')
  if (wanted.organisation.trim() === '') throw fault('setup_invalid', 'organisation: must have a name')
  if (wanted.password === '') throw fault('password_invalid', 'must not be empty')
  return withLock(parts, async () => {
    const closing = await closeSetup(parts)
    if (closing.length === 0) throw fault('setup_closed')
    const { orgId, changes } = await organisationFor(parts, wanted.organisation)
    const user = await prepareUser(parts, { ...FIRST_USER, ...wanted, orgId, email })
    const audit = auditOf(parts, email, 'installation.set_up', orgId, { org_id: orgId, user_id: user.id })
    try {
      const revision = await parts.documents.commit([...changes, ...closing, user.change], audit)
      return { user: { ...user.body, id: user.id, revision }, revision, accessKey: user.accessKey }
    } catch (error) {
      if (toFault(error).code === 'revision_conflict') throw fault('setup_closed', undefined, error)
      throw error
    }
  })
}

/** Sets the installation up where nobody did yet, as the settings say; answers false where it is. @throws Fault as `setUp` */
export async function setUpUnattended(parts: SecretParts, wanted: SetUp): Promise<boolean> {
  const token = setupToken(parts)
  const isOpen = async () => isSetupToken(await readInstallation(parts), token)
  if (!(await isOpen())) return false
  try {
    await setUp(parts, token, wanted)
    return true
  } catch (error) {
    // Nodes that start at one moment all try it; another one was first.
    if (await isOpen()) throw error
    return false
  }
}

const FIRST_USER = {
  active: true,
  groupId: '',
  permissions: { IsAdmin: 'admin' },
  passwordMaxDays: 0,
  sharedEmail: true,
  samePerson: true,
} as const

async function organisationFor(parts: SecretParts, name: string): Promise<{ orgId: string; changes: Change[] }> {
  const { rows } = await parts.documents.list('organisation', { where: { name }, limit: 1 })
  if (rows[0] !== undefined) return { orgId: rows[0].id, changes: [] }
  const { id, changes } = await prepareOrganisation(parts, { owner_name: name })
  return { orgId: id, changes }
}
