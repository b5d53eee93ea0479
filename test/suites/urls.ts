import assert from 'node:assert/strict'
import { FrameClient, fate, getFields, request } from '../worlds/wire/frames.ts'
import { type Origin, openOrigin } from '../worlds/wire/origin.ts'
import { Client, get, statusOf } from '../worlds/wire/raw.ts'
import { type StartedProxy, startProxy } from './proxies.ts'
import { patiently, type SuiteCase, suiteOf } from './suite.ts'

interface World {
  readonly proxy: StartedProxy
  readonly origin: Origin
}

/** Printable characters of ASCII and some beyond, one at a time: what the URL parser of the platform leaves bare is sent bare. */
const CHARACTERS = [...Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)), 'é', '日', '\u{1f600}']
const PLACES: Readonly<Record<string, (character: string) => string>> = {
  'in a path': (character) => `/a${character}b`,
  'in a query': (character) => `/a?b=${character}c`,
}

/** Paths that mean something to signatures, object stores and image proxies as they are spelled. */
const SPELLED = [
  '/a//b',
  '/a///b/',
  '/fetch/https://example.com/a.png',
  '/%79/a',
  '/%7Euser',
  '/%7euser',
  '/a%20b',
  '/a%C3%A9',
  '/a%c3%a9',
  '/a;b=c/d',
  "/!$&'()*+,;=:@",
  '/a?',
  '/a?b=%2F&c=/&d=?',
  '/a?x=1&&y',
  '/?a=b',
  '/a+b?c+d',
  '/...',
  '/.well-known/x',
  '/a?b=../c',
  '/a,b',
]

type Send = (world: World, target: string) => Promise<string>

/** Answers what the upstream was asked for, or how the request was refused. */
const overHttp1: Send = async ({ proxy, origin }, target) => {
  origin.calls.splice(0)
  const client = await Client.connect(proxy.http1)
  try {
    const answer = await patiently('answer', proxy.patienceMs, client.ask(get(target)))
    return statusOf(answer) === 200 ? targetSeen(origin) : `refused with ${statusOf(answer)}`
  } finally {
    client.destroy()
  }
}

const overHttp2: Send = async ({ proxy, origin }, target) => {
  origin.calls.splice(0)
  const client = await FrameClient.connect(proxy.http2)
  try {
    client.send(request(1, getFields({ ':path': target })))
    const found = await patiently('answer', proxy.patienceMs, fate(client))
    return found === 'status 200' ? targetSeen(origin) : `refused: ${found}`
  } finally {
    client.destroy()
  }
}

const targetSeen = (origin: Origin) => origin.calls[0]?.start.split(' ')[1] ?? 'nothing'

const SENDERS: Readonly<Record<string, Send>> = { 'HTTP/1.1': overHttp1, 'HTTP/2': overHttp2 }

function cases(
  section: string,
  targets: Readonly<Record<string, string>>,
  same: (sent: string, got: string) => boolean,
): SuiteCase<World>[] {
  return Object.entries(SENDERS).flatMap(([version, send]) =>
    Object.entries(targets).map(([name, target]) => ({
      section,
      name: `${name}, ${version}`,
      async run(world: World) {
        const got = await send(world, target)
        assert.ok(same(target, got), `${target}: ${got}`)
      },
    })),
  )
}

/** As latin1, as the wire has them. */
const wire = (text: string) => Buffer.from(text).toString('latin1')

/** Targets with one meaning by the URL parser of the platform, and once all that is escaped is bare. */
function alike(sent: string, got: string): boolean {
  const meaning = (target: string) => {
    const bytes = Buffer.from(target, 'latin1').toString()
    const { pathname, search } = new URL(bytes, 'http://a.example')
    const bare = (text: string) =>
      text.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16)))
    return bare(pathname) + bare(search)
  }
  return got.startsWith('/') && meaning(got) === meaning(sent)
}

const browsers: Record<string, string> = {}
for (const [place, targetWith] of Object.entries(PLACES)) {
  for (const character of CHARACTERS) {
    const { pathname, search } = new URL(targetWith(character), 'http://a.example')
    browsers[`${JSON.stringify(character)} ${place}`] = pathname + search
  }
}
// Browsers escape these, and other programs do not.
for (const [place, targetWith] of Object.entries(PLACES)) {
  for (const character of ['{', '}', '|', '^', '[', ']', '`', 'é'])
    browsers[`bare ${character} ${place}`] = wire(targetWith(character))
}

/** Targets as browsers and other programs send them. */
export const urls = suiteOf<World>({
  name: 'URLs',
  sections: {
    whatwg: 'WHATWG URL: what its serialiser gives, and what programs leave bare, is served with the same meaning',
    spelled: 'RFC 3986: paths and queries reach the upstream as spelled',
  },
  cases: [
    ...cases('whatwg', browsers, alike),
    ...cases('spelled', Object.fromEntries(SPELLED.map((each) => [each, each])), (sent, got) => sent === got),
  ],
  async open(name, ending) {
    const origin = await openOrigin(ending)
    return { origin, proxy: await startProxy(name, { port: origin.port }, ending) }
  },
})
