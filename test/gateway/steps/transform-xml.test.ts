import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const base64 = (template: string) => Buffer.from(template).toString('base64')
const rule = (path: string, method: string, input_type: string, template: string) => ({
  ...{ path, method },
  template_data: { input_type, template_mode: 'blob', template_source: base64(template) },
})
const SERVERS =
  '{ {{range $x, $s := .servers.server}}{{if $x}}, {{end}}{{$s.name}}: {"ip": "{{$s.ip}}", "at": {{index $s "-at"}} }{{end}} }'
const SENT =
  '<servers><server at="north"><name>A</name><ip>192.0.2.1</ip></server><server at="s&quot;"><name>B</name><ip/></server></servers>'

test('XML becomes JSON, and JSON XML, in requests and answers of both formats', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const definition = classic('x', '/x/', origin.url, {
    version_data: {
      not_versioned: true,
      versions: {
        Default: {
          name: 'Default',
          use_extended_paths: true,
          extended_paths: {
            transform: [rule('/in', 'POST', 'XML', SERVERS), rule('/out', 'POST', 'json', '{{ . | xmlMarshal }}')],
            transform_response: [
              rule('/told', 'GET', 'xml', '{"said": {{ .a.b }}}'),
              rule('/fails', 'GET', 'xml', '{"said": {{ .a }}}'),
            ],
          },
        },
      },
    },
  })
  const oas = toOas(definition).document
  for (const [path, body] of [
    ['/svc/apis', definition],
    ['/svc/apis/oas', oas],
  ] as const) {
    const saved = await gateway.svc('POST', path, body as JsonObject)
    assert.equal(saved.status, 200, saved.text)
    const send = (target: string, sent: string) => gateway.call(target, { method: 'POST', body: sent })
    assert.equal((await send('/x/in', SENT)).status, 200)
    assert.deepEqual(JSON.parse(Buffer.from(origin.seen.at(-1)!.body, 'latin1').toString()), {
      A: { ip: '192.0.2.1', at: 'north' },
      B: { ip: '', at: 's"' },
    })
    for (const bad of ['<servers>', '{"servers":1}', '<!DOCTYPE a><a/>']) {
      const refused = await send('/x/in', bad)
      assert.match(`${refused.status} ${refused.text}`, /^400 .*XML/, bad)
    }
    await send('/x/out', '{"Order": {"-id": 7, "line": ["<a>", 2]}}')
    assert.equal(origin.seen.at(-1)!.body, '<Order id="7"><line>&#60;a&#62;</line><line>2</line></Order>')
    origin.script = (_request, response) => response.end('<a><b>1</b></a>')
    assert.equal((await gateway.call('/x/told')).text, '{"said": "1"}')
    origin.script = (_request, response) => response.writeHead(503).end('no XML')
    const failed = await gateway.call('/x/fails')
    assert.deepEqual([failed.status, failed.text], [503, 'no XML'])
    origin.script = undefined
    await gateway.svc('DELETE', '/svc/apis/x')
  }
})
