import type { keyWorld } from './key-world.ts'

/** One object of each kind that people edit, with the path of each. `key`: the hash of a key. */
export async function makeEditedObjects(world: Awaited<ReturnType<typeof keyWorld>>) {
  const { asked, root } = world
  await world.api('orders')
  await world.policy('gold', ['orders'])
  const group = await world.group({ apis: 'read' })
  const user = await world.user({ apis: 'read' })
  const developer = await asked(200, 'POST', '/api/portal/developers', root, { email: 'dev@example.com' })
  await asked(200, 'POST', '/api/hooks', root, { name: 'Hook', method: 'POST', target_path: 'https://example.com/' })
  const { hooks } = (await asked(200, 'GET', '/api/hooks', root)) as unknown as { hooks: { id: string }[] }
  await asked(200, 'POST', '/api/portal/catalogue', root, { apis: [] })
  await asked(200, 'PUT', '/api/portal/configuration', root, {})
  const { hash } = await world.key({ apply_policies: ['gold'] })
  const paths = [
    '/api/portal/policies/gold',
    `/api/usergroups/${group}`,
    `/api/users/${user.id}`,
    `/api/portal/developers/${developer.Message}`,
    `/api/hooks/${hooks[0]!.id}`,
    '/api/portal/catalogue',
    '/api/portal/configuration',
  ]
  return { paths, key: hash }
}
