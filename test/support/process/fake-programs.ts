/**
 * Fake binaries of a control plane, for tests that start a control plane. Each fake binary records its arguments and the requests that it
 * receives.
 */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programs, type ProgramName } from '../../../src/testing/binaries.ts'

/**
 * Returns the first lines of the script of a fake binary. These lines append the arguments and the working directory of the process to the
 * file `NAME.jsonl` in the folder of the script.
 */
const head = (name: string): string => `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
const own = dirname(process.argv[1])
const note = (what) => appendFileSync(join(own, '${name}.jsonl'), JSON.stringify(what) + '\\n')
const option = (name) => process.argv.find((argument) => argument.startsWith('--' + name + '=')).split('=').slice(1).join('=')
note({ args: process.argv.slice(2), cwd: process.cwd() })
`

const stays = 'setInterval(() => undefined, 1000)\n'

/** A fake etcd with an HTTP gateway. The response to each POST request reports that the store is at revision 7. */
const etcd = `const { port } = new URL(option('listen-client-urls'))
createServer((request, response) => {
  if (request.method !== 'POST') return response.end()
  let body = ''
  request.on('data', (bytes) => (body += bytes))
  request.on('end', () => {
    note({ request: request.method + ' ' + request.url, body: JSON.parse(body) })
    response.end(JSON.stringify({ header: { revision: '7' } }))
  })
}).listen(Number(port), '127.0.0.1')
`

/** A fake kube-apiserver that accepts every POST, and finds every object. */
const apiServer = `const files = option('token-auth-file')
note({ tokens: readFileSync(files, 'utf8') })
const users = Object.fromEntries(readFileSync(files, 'utf8').split('\\n').map((line) => line.split(',')))
const tls = { cert: readFileSync(option('tls-cert-file')), key: readFileSync(option('tls-private-key-file')) }
const event = (auditID, verb) => JSON.stringify({ auditID, verb, requestURI: '/api/v1/pods?a=b', requestReceivedTimestamp: '2026-01-01T00:00:00Z', user: { username: 'u' } })
writeFileSync(option('audit-log-path'), event('1', 'list') + '\\n')
createTlsServer(tls, (request, response) => {
  let body = ''
  request.on('data', (bytes) => (body += bytes))
  request.on('end', () => {
    const user = users[(request.headers.authorization ?? '').replace('Bearer ', '')]
    const { pathname } = new URL(request.url, 'https://a')
    note({ user, request: request.method + ' ' + pathname, ...(body === '' ? {} : { body: JSON.parse(body) }) })
    if (pathname === '/readyz') return response.end('ok')
    response.setHeader('content-type', 'application/json')
    response.statusCode = request.method === 'POST' ? 201 : 200
    response.end(request.method === 'POST' || request.method === 'PATCH' || request.method === 'PUT' ? body : JSON.stringify({ metadata: {}, items: [] }))
  })
}).listen(Number(option('secure-port')), '127.0.0.1')
`

export interface FakePrograms {
  /** The environment variables that contain the paths of the fake binaries. */
  readonly env: Readonly<Record<string, string>>
  /** Returns the records of a fake binary: one for each start, and one for each request. */
  notes(name: ProgramName): Record<string, unknown>[]
}

/** Writes the fake binaries into a folder. `bodies` replaces the code of some of them. */
export function fakePrograms(folder: string, bodies: Partial<Record<ProgramName, string>> = {}): FakePrograms {
  const usual: Partial<Record<ProgramName, string>> = { etcd, 'kube-apiserver': apiServer, ...bodies }
  const names = Object.keys(programs) as ProgramName[]
  for (const name of names) {
    const script = join(folder, `${name}.mjs`)
    writeFileSync(script, head(name) + (usual[name] ?? stays))
    // NODE_OPTIONS contains the loaders of the test runner, which would slow down the fake.
    writeFileSync(join(folder, name), `#!/bin/sh\nunset NODE_OPTIONS\nexec '${process.execPath}' '${script}' "$@"\n`)
    chmodSync(join(folder, name), 0o755)
  }
  return {
    env: Object.fromEntries(names.map((name) => [programs[name].variable, join(folder, name)])),
    notes(name) {
      const file = join(folder, `${name}.jsonl`)
      if (!existsSync(file)) return []
      return readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>) // prettier-ignore
    },
  }
}
