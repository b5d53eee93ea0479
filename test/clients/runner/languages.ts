import { join } from 'node:path'
import { OUTPUT } from './process.ts'

const CLIENTS = join(import.meta.dirname, '..')

/** A language: how its programs are made ready and run, and the servers that it brings. */
export interface Language {
  readonly name: string
  /** Commands that show that the runtime is there, and what it is called for a person. */
  readonly runtime: string
  readonly probes: readonly (readonly string[])[]
  readonly folder: string
  /** Packages of Debian, and a file of each: installed where root may. */
  readonly debian?: Readonly<Record<string, string>>
  /** Commands that install and build, in `folder`. What is there already takes no time. */
  readonly prepare: readonly (readonly string[])[]
  readonly run: readonly string[]
  /** Environment of all of it. */
  readonly env?: Readonly<Record<string, string>>
  /** Servers, as APIs of the product: the port replaces `PORT`. */
  readonly servers?: Readonly<Record<string, LanguageServer>>
  /** Files that name the versions. */
  readonly pins: readonly string[]
}

export interface LanguageServer {
  readonly command: readonly string[]
  readonly ready: RegExp
  readonly scheme?: 'http' | 'h2c'
  /** Kept, not stripped: gRPC's path is the name of the service. */
  readonly listenPath?: string
}

const [java, javaLibraries] = [join(OUTPUT, 'java'), join(OUTPUT, 'java-libraries')]
const python = join(OUTPUT, 'python')
const rust = join(OUTPUT, 'rust')
const go = join(OUTPUT, 'go-clients')

const chromium = join(OUTPUT, 'chromium')
const generated = join(OUTPUT, 'generated')

const CHROMIUM = '/usr/bin/chromium'
const NGINX = '/usr/sbin/nginx'
const served = join(OUTPUT, 'nginx')

/** nginx with files to get and to put, which ends connections after every seventh request. */
function nginx(listen: string): string[] {
  const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${served}/${name};`,
  )
  const files = 'gzip on; gzip_types *; location /put/ { dav_methods PUT; create_full_put_path on; }'
  const server = `server { listen 127.0.0.1:${listen}; root ${served}; client_max_body_size 0; keepalive_requests 7; ${files} }`
  const http = `http { access_log off; ${kept.join(' ')} ${server} }`
  const name = `${served}/${listen.replace(' ', '-')}`
  const main = `daemon off; master_process off; pid ${name}.pid; error_log stderr notice; events {}`
  return ['sh', '-c', `printf '%s' '${main} ${http}' >'${name}.conf' && exec ${NGINX} -p '${served}' -c '${name}.conf'`]
}

/** All languages, in the order in which they run: curl asks the servers of all others. */
export const LANGUAGES: readonly Language[] = [
  {
    name: 'Go',
    runtime: 'Go 1.26',
    probes: [['go', 'version']],
    folder: join(CLIENTS, 'go'),
    prepare: [['go', 'build', '-o', go, '.']],
    run: [go],
    servers: {
      grpc: {
        command: [go, 'grpc-server', 'PORT'],
        ready: /ready/,
        scheme: 'h2c',
        listenPath: '/grpc.testing.TestService/',
      },
    },
    pins: ['go.mod'],
  },
  {
    name: 'Python',
    runtime: 'Python 3.11 with venv',
    probes: [['python3', '-c', 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))']],
    folder: join(CLIENTS, 'python'),
    prepare: [
      ['python3', '-m', 'venv', python],
      [
        join(python, 'bin', 'pip'),
        'install',
        '--quiet',
        '--no-deps',
        '--disable-pip-version-check',
        '-r',
        'requirements.txt',
      ],
    ],
    run: [join(python, 'bin', 'python'), 'main.py'],
    env: { PYTHONDONTWRITEBYTECODE: '1' },
    servers: {
      uvicorn: {
        command: [join(python, 'bin', 'uvicorn'), '--port', 'PORT', '--log-level', 'info', 'upstream:app'],
        ready: /running on/i,
      },
      hypercorn: {
        command: [join(python, 'bin', 'hypercorn'), '--bind', '127.0.0.1:PORT', 'upstream:app'],
        ready: /running on/i,
      },
    },
    pins: ['requirements.txt'],
  },
  {
    name: 'Java',
    runtime: 'a JDK of 17 or later with Maven',
    probes: [
      ['javac', '--version'],
      ['mvn', '--version'],
    ],
    folder: join(CLIENTS, 'java'),
    prepare: [
      ['mvn', '-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${javaLibraries}`],
      ['sh', '-c', `javac --release 17 -d '${java}' -cp '${javaLibraries}/*' *.java`],
    ],
    run: ['java', '-cp', `${java}:${javaLibraries}/*`, 'Main'],
    servers: { jdk: { command: ['java', '-cp', java, 'Upstream', 'PORT'], ready: /ready/ } },
    pins: ['pom.xml'],
  },
  {
    name: 'Rust',
    runtime: 'Rust 1.85 or later with Cargo',
    probes: [
      ['cargo', '--version'],
      ['rustc', '--version'],
    ],
    folder: join(CLIENTS, 'rust'),
    prepare: [
      ['cargo', 'generate-lockfile', '--quiet'],
      [process.execPath, 'lock.mjs'],
      ['cargo', 'build', '--quiet', '--locked'],
    ],
    run: [join(rust, 'debug', 'clients')],
    env: { CARGO_TARGET_DIR: rust },
    pins: ['versions.lock'],
  },
  {
    name: 'Chromium',
    runtime: 'Chromium',
    probes: [],
    debian: { chromium: CHROMIUM },
    folder: join(CLIENTS, 'chromium'),
    prepare: [
      ['sh', '-c', `mkdir -p '${chromium}' && cp package.json package-lock.json '${chromium}'`],
      ['npm', 'ci', '--prefix', chromium, '--ignore-scripts', '--no-audit', '--no-fund'],
    ],
    run: [process.execPath, 'main.ts', chromium],
    pins: ['package.json'],
  },
  {
    name: 'Ruby',
    runtime: 'Ruby 3.1 or later',
    probes: [],
    debian: { ruby: '/usr/bin/ruby', 'ruby-oauth2': '/usr/lib/ruby/vendor_ruby/oauth2.rb' },
    folder: join(CLIENTS, 'ruby'),
    prepare: [],
    run: ['/usr/bin/ruby', 'main.rb'],
    pins: ['versions.lock'],
  },
  {
    name: 'curl',
    runtime: 'curl 7.76 or later',
    probes: [['curl', '--fail-with-body', '--version']],
    debian: { 'nginx-light': NGINX },
    folder: join(CLIENTS, 'curl'),
    prepare: [
      [
        'sh',
        '-c',
        `mkdir -p '${served}/bytes' && cd '${served}/bytes' && head -c 4000000 /dev/zero >4000000 && head -c 10 4000000 >10`,
      ],
    ],
    run: ['sh', 'run.sh'],
    env: { served },
    servers: {
      nginx: { command: nginx('PORT'), ready: /epoll|kqueue/ },
      nginx2: { command: nginx('PORT http2'), ready: /epoll|kqueue/, scheme: 'h2c' },
    },
    pins: [],
  },
  {
    name: 'OpenAPI generators',
    runtime: 'npm, a JDK of 17 or later with Maven, Go 1.26, and Python 3.11 with venv',
    probes: [
      ['npm', '--version'],
      ['javac', '--version'],
      ['mvn', '--version'],
      ['go', 'version'],
      ['python3', '-c', 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))'],
    ],
    folder: join(CLIENTS, 'generated'),
    prepare: [
      [
        'sh',
        '-c',
        `mkdir -p '${generated}' && if ! cmp -s package-lock.json '${generated}/package-lock.json'; then cp package.json .npmrc '${generated}' && cp package-lock.json '${generated}/wanted.json' && cd '${generated}' && cp wanted.json package-lock.json && (npm ci --silent --ignore-scripts || { rm package-lock.json; exit 1; }); fi`,
      ],
      ['mvn', '-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${generated}/jars`],
      ['python3', '-m', 'venv', `${generated}/python`],
      [
        `${generated}/python/bin/pip`,
        ...['install', '--quiet', '--no-deps', '--disable-pip-version-check', '-r', 'requirements.txt'],
      ],
      ['go', 'build', '-o', `${generated}/oapi-codegen`, 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen'],
    ],
    run: [process.execPath, 'main.ts'],
    env: { output: generated },
    pins: ['package.json', 'pom.xml', 'requirements.txt', 'go.mod'],
  },
]
