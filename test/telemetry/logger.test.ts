import { spawnSync } from 'node:child_process'
import t from 'tap'
import { ProreusError } from '../../src/api/errors.ts'
import { createLogger, silentLogger, type LoggerOptions } from '../../src/telemetry/logger.ts'
import { repository } from '../support/process/process.ts'

function capture(options: LoggerOptions = {}): {
  logger: ReturnType<typeof createLogger>
  lines: string[]
  last: () => Record<string, unknown>
} {
  const lines: string[] = []
  const logger = createLogger({ ...options, destination: { write: (line: string) => void lines.push(line) } })
  return { logger, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> }
}

t.test('a line is JSON with a level name and the fields of its child logger', async (t) => {
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

t.test('values without secrets are logged unchanged, and objects are not modified', async (t) => {
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

t.test('the level filters the lines', async (t) => {
  const { logger, lines } = capture({ level: 'warn' })
  logger.info('no')
  logger.warn('yes')
  t.equal(lines.length, 1)
  t.equal(silentLogger().isLevelEnabled('fatal'), false)
})

t.test('pretty lines have the message, and no colours by default', async (t) => {
  const { logger, lines } = capture({ pretty: true })
  logger.info({ port: 9443 }, 'serving')
  t.match(lines.join(''), /INFO.*serving/)
  t.match(lines.join(''), /"port":9443/)
  t.notMatch(lines.join(''), /\u001b\[/)
})

t.test('pino-pretty is loaded with the first pretty line', (t) => {
  const isLoaded = 'Object.keys(require.cache).some((file) => file.includes("pino-pretty"))'
  const script = `import { createRequire } from 'node:module'
import { createLogger } from '${new URL('../../src/telemetry/logger.ts', import.meta.url).href}'
const require = createRequire(import.meta.url)
const logger = createLogger({ pretty: true, destination: { write() {} } })
const before = ${isLoaded}
logger.info('a line')
console.log(before, ${isLoaded})`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8', cwd: repository })
  t.equal(stdout, 'false true\n', stderr)
  t.end()
})

t.test('while muted, only warnings and errors are logged, also by existing children', async (t) => {
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

t.test('the fields of a line are in order', (t) => {
  const { logger, lines } = capture()
  logger.child({ controller: 'a' }).warn({ took: 3 }, 'reconciled')
  t.match(lines[0], /^\{"level":"warn","time":"\d{4}-\d\d-\d\dT[\d:.]+Z","controller":"a","took":3,"msg":"reconciled"\}\n$/)
  t.end()
})

t.test('arguments are formatted like in pino', (t) => {
  const { logger, last } = capture()
  const fieldsOf = (...args: unknown[]): Record<string, unknown> => {
    ;(logger.info as (...args: unknown[]) => void)(...args)
    const { level: _, time: __, ...rest } = last()
    return rest
  }
  t.strictSame(fieldsOf('text'), { msg: 'text' })
  t.strictSame(fieldsOf('%s is %d', 'a', 3, 'left out'), { msg: 'a is 3' })
  t.strictSame(fieldsOf('%i of %f, %d', 3.7, '1.5', '2.5'), { msg: '3 of 1.5, 2.5' })
  t.strictSame(fieldsOf('%j %o %O', { a: 1 }, { b: 2 }, [3]), { msg: '{"a":1} {"b":2} [3]' })
  t.strictSame(fieldsOf('100%% of %s', 'a'), { msg: '100% of a' })
  t.strictSame(fieldsOf('100%'), { msg: '100%' })
  t.strictSame(fieldsOf('%s and %s', 'a'), { msg: 'a and %s' })
  t.strictSame(fieldsOf({ a: 1 }), { a: 1 })
  t.strictSame(fieldsOf({ a: 1 }, 'of %s', 'b'), { a: 1, msg: 'of b' })
  t.strictSame(fieldsOf(undefined), {})
  t.strictSame(fieldsOf(null), { msg: null })
  t.strictSame(fieldsOf(7), { msg: 7 })
  t.strictSame(fieldsOf(7, 'left out'), { msg: 7 })
  t.strictSame(fieldsOf(new URL('https://a/')), { value: 'https://a/' })
  const { err, ...others } = fieldsOf(new ProreusError('PRO_INPUT', 'no'), 'failed')
  t.strictSame(others, { msg: 'failed' })
  t.match(err, { type: 'ProreusError', code: 'PRO_INPUT', message: 'no' })
  t.end()
})

t.test('children have their options, and their prefixes and bindings are redacted', (t) => {
  const { logger, lines, last } = capture()
  const child = logger.child({ a: 1 }, { msgPrefix: 'token=hidden ', level: 'debug' })
  child.debug('seen')
  t.match(last(), { a: 1, msg: 'token=[redacted] seen', level: 'debug' })
  child.setBindings({ password: 'hidden', b: 2 })
  child.info('late')
  t.match(last(), { a: 1, b: 2, password: '[redacted]' })
  child.child({ c: 3, token: 'hidden' }).info('grandchild')
  t.match(last(), { a: 1, b: 2, c: 3, token: '[redacted]' })
  logger.debug('unseen')
  t.equal(lines.length, 3)
  t.notMatch(lines.join(''), /hidden/)
  t.end()
})

t.test('levels are filtered, muted or not', (t) => {
  const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
  const levelsOf = (options: LoggerOptions): string[] => {
    const { logger, lines } = capture(options)
    for (const level of levels) logger[level]('x')
    return lines.map((line) => (JSON.parse(line) as { level: string }).level)
  }
  t.strictSame(levelsOf({ level: 'trace' }), [...levels])
  t.strictSame(levelsOf({}), ['info', 'warn', 'error', 'fatal'])
  t.strictSame(levelsOf({ level: 'trace', muted: () => true }), ['warn', 'error', 'fatal'])
  t.strictSame(levelsOf({ level: 'trace', muted: () => false }), [...levels])
  t.strictSame(levelsOf({ level: 'silent' }), [])
  t.end()
})

t.test('pretty lines are one line each, with the time of day, and colours on request', (t) => {
  const { logger, lines } = capture({ pretty: true })
  logger.warn({ a: { b: 1 } }, 'careful')
  t.match(lines[0], /^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: careful \{"a":\{"b":1\}\}\n$/)
  const coloured = capture({ pretty: true, colorize: true })
  coloured.logger.warn('careful')
  t.match(coloured.lines[0], /\u001b\[/)
  t.end()
})
