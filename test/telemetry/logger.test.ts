import t from 'tap'
import { ProreusError } from '../../src/api/errors.ts'
import { createLogger, silentLogger, type LoggerOptions } from '../../src/telemetry/logger.ts'

function capture(options: LoggerOptions = {}): {
  logger: ReturnType<typeof createLogger>
  lines: string[]
  last: () => Record<string, unknown>
} {
  const lines: string[] = []
  const logger = createLogger({ ...options, destination: { write: (line: string) => void lines.push(line) } })
  return { logger, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> }
}

t.test('a line is JSON with a level in words and the fields of its child', async (t) => {
  const { logger, last } = capture()
  logger.child({ controller: 'mypod', namespace: 'a', name: 'b', reconcileID: 'r' }).info({ took: 3 }, 'reconciled')
  t.match(last(), {
    level: 'info',
    controller: 'mypod',
    namespace: 'a',
    name: 'b',
    reconcileID: 'r',
    took: 3,
    msg: 'reconciled',
    time: /^\d{4}-.*Z$/,
  })
  t.notOk('pid' in last())
})

t.test('secrets never reach the output', async (t) => {
  const cases: [string, object][] = [
    ['authorization', { request: { headers: { Authorization: 'Bearer hidden' } } }],
    ['token', { user: { token: 'hidden' } }],
    ['kubeconfig', { 'client-key-data': 'hidden' }],
    ['tls pair', { tls: { cert: 'public', key: 'hidden' } }],
    ['secret', { object: { kind: 'Secret', data: { 'tls.crt': 'hidden' }, stringData: { a: 'hidden' } } }],
    ['list of secrets', { items: [{ kind: 'Secret', data: { a: 'hidden' } }] }],
    ['pem', { text: '-----BEGIN PRIVATE KEY-----\nhidden' }],
    ['error', { err: Object.assign(new Error('no'), { request: { authorization: 'hidden' } }) }],
  ]
  for (const [name, fields] of cases) {
    const { logger, lines } = capture()
    logger.info(fields, 'x')
    logger.child(fields).info('x')
    t.equal(lines.length, 2)
    t.notMatch(lines.join(''), /hidden/, name)
    t.match(lines.join(''), /\[redacted\]/, name)
  }
})

t.test('what is no secret is kept, and the given objects stay as they are', async (t) => {
  const { logger, last } = capture()
  const object = { kind: 'ConfigMap', data: { key: 'a' }, key: 'ns/name' }
  logger.info({ object, secret: { kind: 'Secret', data: { a: 'x' } } }, 'x')
  t.strictSame(last()['object'], { kind: 'ConfigMap', data: { key: 'a' }, key: 'ns/name' })
  t.equal(object.data.key, 'a')
})

t.test('errors are logged with code, message and stack', async (t) => {
  const { logger, last } = capture()
  logger.error({ err: new ProreusError('PRO_INPUT', 'no such file') }, 'failed')
  t.match(last(), { level: 'error', err: { code: 'PRO_INPUT', message: 'no such file', stack: String } })
})

t.test('the level decides what is said', async (t) => {
  const { logger, lines } = capture({ level: 'warn' })
  logger.info('no')
  logger.warn('yes')
  t.equal(lines.length, 1)
  t.equal(silentLogger().isLevelEnabled('fatal'), false)
})

t.test('lines for people carry the message and no colours unless asked for', async (t) => {
  const { logger, lines } = capture({ pretty: true })
  logger.info({ port: 9443 }, 'serving')
  t.match(lines.join(''), /INFO.*serving/)
  t.match(lines.join(''), /"port":9443/)
  t.notMatch(lines.join(''), /\u001b\[/)
})

t.test('while it is muted only warnings and errors are logged, also by children made before', async (t) => {
  let muted = true
  const { logger, lines } = capture({ muted: () => muted })
  const child = logger.child({ controller: 'a' })
  child.info('hidden')
  child.warn('seen')
  muted = false
  child.info('seen again')
  t.match(lines, [/"msg":"seen"/, /"msg":"seen again"/])
  t.equal(lines.length, 2)
})
