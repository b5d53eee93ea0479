import { isObject, type JsonObject } from '../../model/json/json.ts'
import { segment } from './dashboard.ts'
import { type MoveFlaw, type MoveKind, type RemoteObject, type TargetDashboard, textAt } from './kind.ts'
import { omitMembers, pruned } from './rendered.ts'
import { secretPlaces } from './secret-places.ts'

/** Webhooks, by their names. What they sign with is shown to nobody and stays what it is. */
export const HOOKS: MoveKind = {
  name: 'hooks',
  choice: 'hooks',
  one: 'webhook',
  folder: 'hooks',
  identityAt: 'name',
  head: ['name', 'method', 'target_path'],
  deletable: true,
  findsNew: false,
  normal: (body) => ({ name: '', ...pruned(omitMembers(body, 'id', 'org_id', 'api_model')) }),
  secrets: (body) => secretPlaces(body),
  flaws: (body) =>
    ['method', 'target_path'].flatMap((name): MoveFlaw[] =>
      textAt(body, name) === '' ? [{ name: 'field_invalid', path: [name], why: 'must be a text' }] : [],
    ),
  references: () => [],
  claims: () => [],
  async list(place) {
    return (await hooksOf(place)).filter(({ identity }) => identity !== '')
  },
  async find({ api }, { at }) {
    const found = await api.find(`/api/hooks/${segment(at)}`)
    return found && thereOf(found)
  },
  async create(place, body) {
    await place.api.send('POST', '/api/hooks', body)
    delete place.hooks.names
  },
  async update({ api }, there, body) {
    await api.send('PUT', `/api/hooks/${segment(there.at)}`, body)
  },
  async remove({ api }, there) {
    await api.send('DELETE', `/api/hooks/${segment(there.at)}`)
  },
}

/** Names of webhooks by their ids. */
export function hookNames(place: TargetDashboard): Promise<ReadonlyMap<string, string>> {
  place.hooks.names ??= hooksOf(place).then((all) => new Map(all.map(({ at, identity }) => [at, identity])))
  return place.hooks.names
}

async function hooksOf({ api }: TargetDashboard): Promise<RemoteObject[]> {
  const { hooks } = await api.get('/api/hooks?p=-1')
  return Array.isArray(hooks) ? hooks.filter(isObject).map(thereOf) : []
}

function thereOf(row: JsonObject): RemoteObject {
  return { identity: textAt(row, 'name'), body: HOOKS.normal(row), at: textAt(row, 'id') }
}
