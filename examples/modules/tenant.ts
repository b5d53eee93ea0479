import type { ModuleAnswer, ModuleExchange } from '../../src/gateway/modules/extension.ts'

/** After authentication: tells the upstream whose request it is, and refuses keys that belong to no tenant. */
export function addTenant(exchange: ModuleExchange): void {
  const tenant = exchange.session?.metaData.tenant
  if (typeof tenant !== 'string') {
    exchange.reject(403, 'Your key belongs to no tenant')
    return
  }
  exchange.headers.set('X-Tenant', tenant)
  exchange.context.tenant = tenant
}

/** Of the answer: takes away what tells of the upstream, and adds the tenant to a JSON body. */
export function nameTenant(answer: ModuleAnswer, exchange: ModuleExchange): void {
  answer.headers.delete('Server')
  if (!answer.headers.get('Content-Type')?.startsWith('application/json')) return
  const body = JSON.parse(Buffer.from(answer.body).toString()) as object
  answer.body = JSON.stringify({ ...body, tenant: exchange.context.tenant ?? null })
}
