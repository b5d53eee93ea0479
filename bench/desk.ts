import { ADMIN_SECRET } from './product.ts'

/** A user of the dashboard, and the credential to call as. */
export interface Desk {
  readonly url: string
  readonly orgId: string
  readonly userId: string
  readonly key: string
}

/** Makes the organisation that everything of this installation belongs to, and its administrator. @throws Error unless both are made */
export async function openDesk(url: string): Promise<Desk> {
  const made = await callInstallation(url, 'POST', '/admin/organisations', { owner_name: 'Bench' })
  return newUser(url, String(made.Meta), 'admin@bench.example', { IsAdmin: 'admin' })
}

/** Makes a user with these rights. */
export async function newUser(url: string, orgId: string, email: string, rights: unknown): Promise<Desk> {
  const body = { org_id: orgId, email_address: email, first_name: 'Bench', last_name: 'User', user_permissions: rights }
  const made = await callInstallation(url, 'POST', '/admin/users', { ...body, active: true })
  const { id } = made.Meta as { id: string }
  return { url, orgId, userId: id, key: String(made.Message) }
}

/** A call of the installation's operator. @throws Error unless the answer is 2xx */
export function callInstallation(
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  return ask(url, { 'admin-auth': ADMIN_SECRET }, method, path, body)
}

/** A call as this user. @throws Error unless the answer is 2xx */
export function callDesk(desk: Desk, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  return ask(desk.url, { Authorization: desk.key }, method, path, body)
}

async function ask(
  url: string,
  headers: Record<string, string>,
  method: string,
  path: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}
