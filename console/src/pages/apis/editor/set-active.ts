import { type ApiView, readApi, saveDefinition } from '../../../api/apis/apis.ts'
import { EXTENSION, withAt } from './tree.ts'

/** Switches an API on or off. Reads the definition afresh: the switch is all that changes. @throws CallError */
export async function setActive(api: Pick<ApiView, 'id' | 'isOas'>, active: boolean): Promise<void> {
  const { definition } = await readApi(api.id)
  await saveDefinition(api, withAt(definition, api.isOas ? [EXTENSION, 'info', 'state', 'active'] : ['active'], active))
}
