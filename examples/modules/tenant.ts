import type { ModuleAnswer, ModuleExchange } from '../../src/gateway/modules/extension.ts'

/** After authentication: names the tenant to the upstream, and refuses keys that belong to no tenant. */
export function addTenant(exchange: ModuleExchange): void {
  const tenant = exchange.session?.metaData.tenant
  if (typeof tenant !== 'string') {
    exchange.reject(403, 'Your key belongs to no tenant')
    return
  }
  exchange.headers.set('X-Tenant', tenant)
  exchange.context.tenant = tenant
}

/** Removes fields of the answer that reveal the upstream, and adds the tenant to a JSON body. */
export function nameTenant(answer: ModuleAnswer, exchange: ModuleExchange): void {
  answer.headers.delete('Server')
  if (!answer.headers.get('Content-Type')?.startsWith('application/json')) return
  const body = JSON.parse(Buffer.from(answer.body).toString()) as object
  answer.body = JSON.stringify({ ...body, tenant: exchange.context.tenant ?? null })
}
