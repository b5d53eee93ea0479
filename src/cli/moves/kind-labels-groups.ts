import { isObject, type JsonObject } from '../../model/json/json.ts'
import { labelKey, readLabel } from '../../model/labels/label.ts'
import { foldCase } from '../../model/text/fold.ts'
import { segment } from './dashboard.ts'
import { flawsThrown, type MoveFlaw, type MoveKind, type RemoteObject, textAt } from './kind.ts'
import { omitMembers, pruned } from './rendered.ts'

/** Definitions of labels, by the key that APIs carry them by. */
export const LABELS: MoveKind = {
  name: 'labels',
  choice: 'labels',
  one: 'label',
  folder: 'labels',
  identityAt: 'key',
  head: ['key', 'name', 'values'],
  deletable: true,
  findsNew: false,
  normal(body) {
    const rest = pruned(omitMembers(body, 'id', 'org_id', 'value_type'))
    return { ...rest, key: textAt(body, 'key') || labelKey(textAt(body, 'name')) }
  },
  secrets: () => [],
  flaws: (body) => flawsThrown(() => readLabel(body), body),
  references: () => [],
  claims: (body) => [{ what: foldCase(textAt(body, 'name')), flaw: 'name_taken', path: ['name'] }],
  async list({ api }) {
    const { labels } = await api.get('/api/labels?p=-1')
    return Array.isArray(labels) ? labels.filter(isObject).map(labelThere) : []
  },
  async find({ api }, { at }) {
    const found = await api.find(`/api/labels/${segment(at)}`)
    return found && labelThere(found)
  },
  async create({ api }, body) {
    await api.send('POST', '/api/labels', body)
  },
  async update({ api }, there, body) {
    await api.send('PUT', `/api/labels/${segment(there.at)}`, { ...body, values: body.values ?? [] })
  },
  async remove({ api }, there) {
    await api.send('DELETE', `/api/labels/${segment(there.at)}`)
  },
}

/** Groups of dashboard users and their rights, by their names. Who is in one is not moved. */
export const GROUPS: MoveKind = {
  name: 'groups',
  choice: 'groups',
  one: 'group',
  folder: 'groups',
  identityAt: 'name',
  head: ['name', 'description'],
  deletable: true,
  findsNew: false,
  normal(body) {
    const { active, ...rest } = omitMembers(body, 'id', 'org_id')
    const said = { ...pruned(rest), name: textAt(body, 'name') }
    return active === false ? { ...said, active } : said
  },
  secrets: () => [],
  flaws: groupFlaws,
  references: () => [],
  claims: () => [],
  async list({ api }) {
    const { groups } = await api.get('/api/usergroups?p=-1')
    return Array.isArray(groups) ? groups.filter(isObject).map(groupThere) : []
  },
  async find({ api }, { at }) {
    const found = await api.find(`/api/usergroups/${segment(at)}`)
    return found && groupThere(found)
  },
  async create({ api }, body) {
    await api.send('POST', '/api/usergroups', whole(body))
  },
  async update({ api }, there, body) {
    await api.send('PUT', `/api/usergroups/${segment(there.at)}`, whole(body))
  },
  async remove({ api }, there) {
    await api.send('DELETE', `/api/usergroups/${segment(there.at)}`)
  },
}

/** Fills in what a file leaves out: a group keeps members that are not sent. */
function whole(body: JsonObject): JsonObject {
  return { description: '', active: true, password_max_days: 0, ...body }
}

function groupFlaws(body: JsonObject): MoveFlaw[] {
  const { user_permissions: rights } = body
  const flaw = (path: MoveFlaw['path'], why: string): MoveFlaw => ({ name: 'field_invalid', path, why })
  if (!isObject(rights)) return [flaw(['user_permissions'], 'must be an object with at least one permission')]
  return Object.entries(rights)
    .filter(([, value]) => typeof value !== 'string')
    .map(([name]) => flaw(['user_permissions', name], 'must be a text'))
}

function labelThere(row: JsonObject): RemoteObject {
  const body = LABELS.normal(row)
  return { identity: textAt(body, 'key'), body, at: textAt(row, 'id') }
}

function groupThere(row: JsonObject): RemoteObject {
  return { identity: textAt(row, 'name'), body: GROUPS.normal(row), at: textAt(row, 'id') }
}
