import { deleteClient, type OAuthClient, readClient, revokeAllTokens } from '../../../api/access/clients.ts'
import { saveJson } from '../../../parts/charts/save-file.ts'
import type { BulkAction } from '../../../parts/tables/bulk-actions.tsx'
import { say } from '../../../texts/say.ts'

/** Actions on chosen OAuth clients of an API; those that change them for users who may write clients. */
export function clientActions(apiId: string, mayWrite: boolean): readonly BulkAction<OAuthClient>[] {
  const rest: BulkAction<OAuthClient> = {
    ...{ name: 'export', label: say('list.export'), hint: say('clients.exportHint') },
    run: async ({ client_id }) => {
      const { secret: _hidden, ...client } = await readClient(apiId, client_id)
      return client
    },
    finish: (clients) => saveJson(clients, 'clients.json'),
  }
  if (!mayWrite) return [rest]
  return [
    {
      ...{ name: 'revoke', label: say('clients.revokeTokens'), hint: say('clients.revokeAllHint'), isGrave: true },
      run: ({ client_id }) => revokeAllTokens(apiId, client_id),
    },
    rest,
    {
      ...{ name: 'delete', label: say('list.delete'), hint: say('clients.deleteHint'), isGrave: true },
      run: ({ client_id }) => deleteClient(apiId, client_id),
    },
  ]
}
